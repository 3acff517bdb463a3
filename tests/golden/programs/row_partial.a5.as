.arg %table : !pto.memref<64x32xf32>
.arg %indices : !pto.memref<1x5xi32>
.arg %updates : !pto.memref<5x32xf32>
%index = tload %indices[0, 0] : (!pto.memref<1x5xi32>, index, index) -> !pto.tile<1x8xi32, 1x5>
%update = tload %updates[0, 0] : (!pto.memref<5x32xf32>, index, index) -> !pto.tile<5x32xf32>
mscatter.row %table, %update, %index : (!pto.memref<64x32xf32>, !pto.tile<5x32xf32>, !pto.tile<1x8xi32, 1x5>)
