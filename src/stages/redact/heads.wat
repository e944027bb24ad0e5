;; Finds where a rule could begin, four places at a time. find-heads.ts has the tables: at 0, for each pair of bytes, which
;; groups of rules begin with it (lower byte) and which go on with it (upper byte); at 131072, a bit for each hash of a
;; whole head. Bytes stand at 262144, places found (32 bits each) at 393216. Compiled into find-heads.ts by
;; scripts/compile-wat.mjs.
(module
  (memory (export "memory") 11)
  (func (export "find")
    (param $at i32) (param $end i32)
    (result i32)
    (local $out i32) (local $place i32) (local $stop i32) (local $hash i32) (local $bytes i64)
    (local $p0 i32) (local $p1 i32) (local $p2 i32) (local $p3 i32) (local $p4 i32) (local $p5 i32)
    (local.set $out (i32.const 393216))
    (local.set $p4 (i32.load16_u (i32.shl (i32.load16_u (local.get $at)) (i32.const 1))))
    (local.set $p5 (i32.load16_u (i32.shl (i32.load16_u offset=1 (local.get $at)) (i32.const 1))))
    (loop $fours
      (local.set $bytes (i64.load offset=2 (local.get $at)))
      (local.set $p0 (local.get $p4))
      (local.set $p1 (local.get $p5))
      (local.set $p2 (i32.load16_u
        (i32.and (i32.wrap_i64 (i64.shl (local.get $bytes) (i64.const 1))) (i32.const 131070))))
      (local.set $p3 (i32.load16_u
        (i32.and (i32.wrap_i64 (i64.shr_u (local.get $bytes) (i64.const 7))) (i32.const 131070))))
      (local.set $p4 (i32.load16_u
        (i32.and (i32.wrap_i64 (i64.shr_u (local.get $bytes) (i64.const 15))) (i32.const 131070))))
      (local.set $p5 (i32.load16_u
        (i32.and (i32.wrap_i64 (i64.shr_u (local.get $bytes) (i64.const 23))) (i32.const 131070))))
      (if (i32.or
            (i32.or
              (i32.and (local.get $p0) (i32.shr_u (local.get $p2) (i32.const 8)))
              (i32.and (local.get $p1) (i32.shr_u (local.get $p3) (i32.const 8))))
            (i32.or
              (i32.and (local.get $p2) (i32.shr_u (local.get $p4) (i32.const 8)))
              (i32.and (local.get $p3) (i32.shr_u (local.get $p5) (i32.const 8)))))
        (then
          (local.set $place (local.get $at))
          (local.set $stop (i32.add (local.get $at) (i32.const 4)))
          (if (i32.gt_u (local.get $stop) (local.get $end)) (then (local.set $stop (local.get $end))))
          (loop $places
            ;; Groups let some through: the hash decides, and what it does not let through is written over.
            (local.set $hash (i32.shr_u
              (i32.mul (i32.load (local.get $place)) (i32.const 0x9e3779b1))
              (i32.const 12)))
            (i32.store (local.get $out) (local.get $place))
            (local.set $out (i32.add (local.get $out) (i32.shl
              (i32.and
                (i32.ne (i32.const 0) (i32.and
                  (i32.load16_u (i32.shl (i32.load16_u (local.get $place)) (i32.const 1)))
                  (i32.load8_u offset=1 (i32.shl (i32.load16_u offset=2 (local.get $place)) (i32.const 1)))))
                (i32.shr_u
                  (i32.load8_u offset=131072 (i32.shr_u (local.get $hash) (i32.const 3)))
                  (i32.and (local.get $hash) (i32.const 7))))
              (i32.const 2))))
            (local.set $place (i32.add (local.get $place) (i32.const 1)))
            (br_if $places (i32.lt_u (local.get $place) (local.get $stop))))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $fours (i32.lt_u (local.get $at) (local.get $end))))
    (i32.shr_u (i32.sub (local.get $out) (i32.const 393216)) (i32.const 2))))
