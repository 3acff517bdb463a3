.arg %result : !pto.memref<50x64xf32>
.arg %operand : !pto.memref<50x64xf32>
.arg %indices : !pto.memref<1x40xi32>
.arg %updates : !pto.memref<40x64xf32>
%line = tload %operand[0, 0] : (!pto.memref<50x64xf32>, index, index) -> !pto.tile<50x64xf32>
tstore %line, %result[0, 0] : (!pto.tile<50x64xf32>, !pto.memref<50x64xf32>, index, index)
%index = tload %indices[0, 0] : (!pto.memref<1x40xi32>, index, index) -> !pto.tile<1x40xi32>
%update = tload %updates[0, 0] : (!pto.memref<40x64xf32>, index, index) -> !pto.tile<40x64xf32>
%current = mgather.row.zero %result, %index : (!pto.memref<50x64xf32>, !pto.tile<1x40xi32>) -> !pto.tile<40x64xf32>
%combined = tmul %current, %update : (!pto.tile<40x64xf32>, !pto.tile<40x64xf32>) -> !pto.tile<40x64xf32>
mscatter.row.skip %result, %combined, %index : (!pto.memref<50x64xf32>, !pto.tile<40x64xf32>, !pto.tile<1x40xi32>)
