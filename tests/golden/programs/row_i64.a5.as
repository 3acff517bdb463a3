.arg %table : !pto.memref<50x20xf32>
.arg %indices : !pto.memref<1x200xi32>
.arg %updates : !pto.memref<100x20xf32>
.const %c0_i32 = 0 : i32
%place = tci %c0_i32 : (i32) -> !pto.tile<1x104xi32, 1x100>
.const %c2_i32 = 2 : i32
%place_2 = tmuls %place, %c2_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%low = mgather.elem %indices, %place_2 : (!pto.memref<1x200xi32>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
.const %c1_i32 = 1 : i32
%place_3 = tadds %place_2, %c1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%high = mgather.elem %indices, %place_3 : (!pto.memref<1x200xi32>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
.const %cm1_i32 = -1 : i32
%low_sign = tmaxs %low, %cm1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%low_sign_2 = tmins %low_sign, %c0_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
.const %cm2_i32 = -2 : i32
%high_2 = tmaxs %high, %cm2_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%high_3 = tmins %high_2, %c1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%high_4 = tsub %high_3, %low_sign_2 : (!pto.tile<1x104xi32, 1x100>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
%high_5 = tmaxs %high_4, %cm1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%high_6 = tmins %high_5, %c1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%low_sign_3 = tmul %high_6, %high_6 : (!pto.tile<1x104xi32, 1x100>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
%low_sign_4 = tmuls %low_sign_3, %cm1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%low_sign_5 = tadds %low_sign_4, %c1_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%low_2 = tmul %low, %low_sign_5 : (!pto.tile<1x104xi32, 1x100>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
.const %c2147483647_i32 = 2147483647 : i32
%high_7 = tmuls %high_6, %c2147483647_i32 : (!pto.tile<1x104xi32, 1x100>, i32) -> !pto.tile<1x104xi32, 1x100>
%low_3 = tadd %low_2, %high_7 : (!pto.tile<1x104xi32, 1x100>, !pto.tile<1x104xi32, 1x100>) -> !pto.tile<1x104xi32, 1x100>
%update = tload %updates[0, 0] : (!pto.memref<100x20xf32>, index, index) -> !pto.tile<100x24xf32, 100x20>
mscatter.row.skip %table, %update, %low_3 : (!pto.memref<50x20xf32>, !pto.tile<100x24xf32, 100x20>, !pto.tile<1x104xi32, 1x100>)
