;; Counts line breaks and UTF-16 units of UTF-8 bytes, 16 at a time while they are ASCII.
;; scan-table.ts puts its tables at 0 (byte classes, 256 bytes) and 256 (10 states x 16 classes);
;; compiled into scan-binary.ts by scripts/compile-scan.mjs.
(module
  (memory (export "memory") 3)
  (func (export "scan")
    (param $at i32) (param $end i32) (param $state i32)
    (result i32 i32 i32)
    (local $breaks i32) (local $chars i32) (local $stop i32) (local $byte i32) (local $step i32) (local $block v128)
    (block $done
      (loop $blocks
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $stop (i32.add (local.get $at) (i32.const 16)))
        (if (i32.and (i32.eqz (local.get $state)) (i32.le_u (local.get $stop) (local.get $end)))
          (then
            (local.set $block (v128.load (local.get $at)))
            (if (i32.eqz (i8x16.bitmask (local.get $block)))
              (then
                (local.set $breaks (i32.add (local.get $breaks)
                  (i32.popcnt (i8x16.bitmask (i8x16.eq (local.get $block) (i8x16.splat (i32.const 10)))))))
                (local.set $chars (i32.add (local.get $chars) (i32.const 16)))
                (local.set $at (local.get $stop))
                (br $blocks)))))
        (if (i32.gt_u (local.get $stop) (local.get $end)) (then (local.set $stop (local.get $end))))
        (loop $bytes
          (local.set $byte (i32.load8_u (local.get $at)))
          (local.set $breaks (i32.add (local.get $breaks) (i32.eq (local.get $byte) (i32.const 10))))
          (local.set $step (i32.load8_u offset=256
            (i32.or (i32.shl (local.get $state) (i32.const 4)) (i32.load8_u (local.get $byte)))))
          (local.set $chars (i32.add (local.get $chars) (i32.shr_u (local.get $step) (i32.const 4))))
          (local.set $state (i32.and (local.get $step) (i32.const 15)))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br_if $bytes (i32.lt_u (local.get $at) (local.get $stop))))
        (br $blocks)))
    (local.get $breaks) (local.get $chars) (local.get $state)))
