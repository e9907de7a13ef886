Conv1d = Conv2d = Conv3d = None
