Keep compiled programs in a content-addressed cache; tenon cache -c echo "Keep compiled programs in a content-addressed cache; tenon cache" > /work/main/.git/COMMIT_EDITMSG
