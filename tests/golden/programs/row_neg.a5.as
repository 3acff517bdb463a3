.arg %table : !pto.memref<50x20xf32>
.arg %indices : !pto.memref<1x100xi32>
.arg %updates : !pto.memref<100x20xf32>
%index = tload %indices[0, 0] : (!pto.memref<1x100xi32>, index, index) -> !pto.tile<1x104xi32, 1x100>
.const %cm1_i32 = -1 : i32
%negative = tmaxs %index, %cm1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
.const %c0_i32 = 0 : i32
%negative_2 = tmins %negative, %c0_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
.const %cm50_i32 = -50 : i32
%negative_3 = tmuls %negative_2, %cm50_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%index_2 = tadd %index, %negative_3 : (!pto.tile<1x104xi32, 1x100>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
%update = tload %updates[0, 0] : (!pto.memref<100x20xf32>, index, index) -> !pto.tile<100x24xf32, 100x20>
mscatter.row.skip %table, %update, %index_2 : (!pto.memref<50x20xf32>, !pto.tile<100x24xf32, 100x20>, !pto.tile<1x104xi32, 1x100>)
