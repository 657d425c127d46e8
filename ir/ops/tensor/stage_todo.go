package tensor

import "tenon/ir"

func unstaged(m ir.Machine, op *ir.Op) ir.Step { return nil }

var (
	stageComp, stageCall, stageData, stageReshape, stageConcat, stageScatter, stageSort, stageTopK = unstaged, unstaged, unstaged, unstaged, unstaged, unstaged, unstaged, unstaged
	stageNonzero, stageUnique, stagePlan, stageCheck, stageParts, stageEncoded, stageSamePattern   = unstaged, unstaged, unstaged, unstaged, unstaged, unstaged, unstaged
	stagePatternTranspose, stagePatternConvert, stageCoalesce                                      = unstaged, unstaged, unstaged
)
