;; Passes over the entries of a JSON group, 64 bytes at a time, and finds where they end. skim-json.ts has the same in
;; JavaScript and says what each word means; compiled into skim-binary.ts by scripts/compile-skim.mjs.
;; Borders that are told stand at 0, three words each: position, breaks and count up to there. Bytes stand from 8192 on.
(module
  (memory (export "memory") 3)
  (global $nest (export "nest") (mut i32) (i32.const 0))
  (global $isString (export "isString") (mut i32) (i32.const 0))
  (global $isEscaped (export "isEscaped") (mut i32) (i32.const 0))
  (global $isLines (export "isLines") (mut i32) (i32.const 0))
  (global $isDone (export "isDone") (mut i32) (i32.const 0))
  (global $breaks (export "breaks") (mut i32) (i32.const 0))
  (global $count (export "count") (mut i32) (i32.const 0))
  ;; The last border that was told, and how far behind it the next one is at least.
  (global $last (export "last") (mut i32) (i32.const 0))
  (global $least (export "least") (mut i32) (i32.const 0))
  (global $told (export "told") (mut i32) (i32.const 0))

  (func $border (param $at i32) (param $breaks i32)
    (local $place i32)
    (global.set $count (i32.add (global.get $count) (i32.const 1)))
    (if (i32.ge_s (i32.sub (local.get $at) (global.get $last)) (global.get $least))
      (then
        (local.set $place (i32.mul (global.get $told) (i32.const 12)))
        (i32.store (local.get $place) (local.get $at))
        (i32.store offset=4 (local.get $place) (local.get $breaks))
        (i32.store offset=8 (local.get $place) (global.get $count))
        (global.set $told (i32.add (global.get $told) (i32.const 1)))
        (global.set $last (local.get $at)))))

  ;; One byte at a time: for what is shorter than a block, and for escapes.
  (func $bytes (param $at i32) (param $end i32) (result i32)
    (local $byte i32)
    (block $stop
      (loop $next
        (br_if $stop (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (if (global.get $isString)
          (then
            (if (global.get $isEscaped)
              (then (global.set $isEscaped (i32.const 0)))
              (else
                (global.set $isEscaped (i32.eq (local.get $byte) (i32.const 92)))
                (global.set $isString (i32.ne (local.get $byte) (i32.const 34))))))
          (else
            (global.set $isString (i32.eq (local.get $byte) (i32.const 34)))
            (global.set $breaks (i32.add (global.get $breaks) (i32.eq (local.get $byte) (i32.const 10))))
            (if (i32.and (i32.eq (local.get $byte) (i32.const 44))
                (i32.eqz (i32.or (global.get $nest) (global.get $isLines))))
              (then (call $border (local.get $at) (global.get $breaks))))
            ;; Both brackets that open differ in one bit, and so do both that close.
            (if (i32.eq (i32.or (local.get $byte) (i32.const 32)) (i32.const 123))
              (then (global.set $nest (i32.add (global.get $nest) (i32.const 1)))))
            (if (i32.eq (i32.or (local.get $byte) (i32.const 32)) (i32.const 125))
              (then
                (if (i32.eqz (global.get $nest))
                  (then
                    (global.set $isDone (i32.const 1))
                    (br $stop)))
                (global.set $nest (i32.sub (global.get $nest) (i32.const 1)))
                (if (i32.and (global.get $isLines) (i32.eqz (global.get $nest)))
                  (then (call $border (i32.add (local.get $at) (i32.const 1)) (global.get $breaks))))))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (local.get $at))

  ;; Gives where it stopped: at the end, at the group's closing bracket, or where no more borders can be told.
  (func (export "skim") (param $at i32) (param $end i32) (result i32)
    (local $one v128) (local $two v128) (local $three v128) (local $four v128)
    (local $inside i64) (local $opens i64) (local $closes i64) (local $commas i64) (local $lines i64)
    (local $brackets i64) (local $before i64) (local $some i64) (local $closing i32)
    (block $stop
      (loop $blocks
        (br_if $stop (i32.gt_u (global.get $told) (i32.const 600)))
        (if (i32.gt_u (i32.add (local.get $at) (i32.const 64)) (local.get $end))
          (then
            (local.set $at (call $bytes (local.get $at) (local.get $end)))
            (br $stop)))
        (local.set $one (v128.load (local.get $at)))
        (local.set $two (v128.load offset=16 (local.get $at)))
        (local.set $three (v128.load offset=32 (local.get $at)))
        (local.set $four (v128.load offset=48 (local.get $at)))
        (if (i32.or (global.get $isEscaped) (v128.any_true (v128.or
            (v128.or (i8x16.eq (local.get $one) (i8x16.splat (i32.const 92)))
              (i8x16.eq (local.get $two) (i8x16.splat (i32.const 92))))
            (v128.or (i8x16.eq (local.get $three) (i8x16.splat (i32.const 92)))
              (i8x16.eq (local.get $four) (i8x16.splat (i32.const 92)))))))
          (then
            (local.set $at (call $bytes (local.get $at) (i32.add (local.get $at) (i32.const 64))))
            (br_if $stop (global.get $isDone))
            (br $blocks)))
        ;; Bits from each quote that opens up to the one that closes: every quote turns all bits from its own on.
        (local.set $inside (i64.or
          (i64.or
            (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $one) (i8x16.splat (i32.const 34)))))
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $two) (i8x16.splat (i32.const 34))))) (i64.const 16)))
          (i64.or
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $three) (i8x16.splat (i32.const 34))))) (i64.const 32))
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $four) (i8x16.splat (i32.const 34))))) (i64.const 48)))))
        (local.set $inside (i64.xor (local.get $inside) (i64.shl (local.get $inside) (i64.const 1))))
        (local.set $inside (i64.xor (local.get $inside) (i64.shl (local.get $inside) (i64.const 2))))
        (local.set $inside (i64.xor (local.get $inside) (i64.shl (local.get $inside) (i64.const 4))))
        (local.set $inside (i64.xor (local.get $inside) (i64.shl (local.get $inside) (i64.const 8))))
        (local.set $inside (i64.xor (local.get $inside) (i64.shl (local.get $inside) (i64.const 16))))
        (local.set $inside (i64.xor (local.get $inside) (i64.shl (local.get $inside) (i64.const 32))))
        (local.set $inside (i64.xor (local.get $inside) (i64.sub (i64.const 0) (i64.extend_i32_u (global.get $isString)))))
        (global.set $isString (i32.wrap_i64 (i64.shr_u (local.get $inside) (i64.const 63))))
        (local.set $inside (i64.xor (local.get $inside) (i64.const -1)))
        (local.set $closes (i64.or
          (i64.or
            (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (v128.or (local.get $one) (i8x16.splat (i32.const 32))) (i8x16.splat (i32.const 125)))))
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (v128.or (local.get $two) (i8x16.splat (i32.const 32))) (i8x16.splat (i32.const 125))))) (i64.const 16)))
          (i64.or
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (v128.or (local.get $three) (i8x16.splat (i32.const 32))) (i8x16.splat (i32.const 125))))) (i64.const 32))
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (v128.or (local.get $four) (i8x16.splat (i32.const 32))) (i8x16.splat (i32.const 125))))) (i64.const 48)))))
        (local.set $closes (i64.and (local.get $closes) (local.get $inside)))
        (local.set $opens (i64.or
          (i64.or
            (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (v128.or (local.get $one) (i8x16.splat (i32.const 32))) (i8x16.splat (i32.const 123)))))
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (v128.or (local.get $two) (i8x16.splat (i32.const 32))) (i8x16.splat (i32.const 123))))) (i64.const 16)))
          (i64.or
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (v128.or (local.get $three) (i8x16.splat (i32.const 32))) (i8x16.splat (i32.const 123))))) (i64.const 32))
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (v128.or (local.get $four) (i8x16.splat (i32.const 32))) (i8x16.splat (i32.const 123))))) (i64.const 48)))))
        (local.set $opens (i64.and (local.get $opens) (local.get $inside)))
        (local.set $lines (i64.const 0))
        (if (v128.any_true (v128.or
            (v128.or (i8x16.eq (local.get $one) (i8x16.splat (i32.const 10)))
              (i8x16.eq (local.get $two) (i8x16.splat (i32.const 10))))
            (v128.or (i8x16.eq (local.get $three) (i8x16.splat (i32.const 10)))
              (i8x16.eq (local.get $four) (i8x16.splat (i32.const 10))))))
          (then
            (local.set $lines (i64.or
              (i64.or
                (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $one) (i8x16.splat (i32.const 10)))))
                (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $two) (i8x16.splat (i32.const 10))))) (i64.const 16)))
              (i64.or
                (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $three) (i8x16.splat (i32.const 10))))) (i64.const 32))
                (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $four) (i8x16.splat (i32.const 10))))) (i64.const 48)))))
            (local.set $lines (i64.and (local.get $lines) (local.get $inside)))))
        (local.set $closing (i32.wrap_i64 (i64.popcnt (local.get $closes))))
        (block $passed
          ;; Deep inside an entry nothing can end one.
          (if (i32.gt_s (global.get $nest) (local.get $closing))
            (then
              (global.set $nest (i32.sub
                (i32.add (global.get $nest) (i32.wrap_i64 (i64.popcnt (local.get $opens)))) (local.get $closing)))
              (br $passed)))
          (local.set $commas (i64.const 0))
          (if (i32.eqz (global.get $isLines))
            (then
            (local.set $commas (i64.or
              (i64.or
                (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $one) (i8x16.splat (i32.const 44)))))
                (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $two) (i8x16.splat (i32.const 44))))) (i64.const 16)))
              (i64.or
                (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $three) (i8x16.splat (i32.const 44))))) (i64.const 32))
                (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $four) (i8x16.splat (i32.const 44))))) (i64.const 48)))))
              (local.set $commas (i64.and (local.get $commas) (local.get $inside)))))
          (local.set $brackets (i64.or (local.get $opens) (local.get $closes)))
          (loop $segments
            ;; The bits before the next bracket; all where there is none.
            (local.set $before (i64.and
              (i64.sub (local.get $brackets) (i64.const 1)) (i64.xor (local.get $brackets) (i64.const -1))))
            (local.set $some (i64.and (local.get $commas) (local.get $before)))
            (local.set $commas (i64.xor (local.get $commas) (local.get $some)))
            (if (i32.eqz (global.get $nest))
              (then
                (if (i32.lt_s (i32.sub (i32.add (local.get $at) (i32.const 64)) (global.get $last)) (global.get $least))
                  (then (global.set $count
                    (i32.add (global.get $count) (i32.wrap_i64 (i64.popcnt (local.get $some))))))
                  (else
                    (block $counted
                      (loop $each
                        (br_if $counted (i64.eqz (local.get $some)))
                        (call $border
                          (i32.add (local.get $at) (i32.wrap_i64 (i64.ctz (local.get $some))))
                          (i32.add (global.get $breaks) (i32.wrap_i64 (i64.popcnt (i64.and (local.get $lines)
                            (i64.and (i64.sub (local.get $some) (i64.const 1))
                              (i64.xor (local.get $some) (i64.const -1))))))))
                        (local.set $some (i64.and (local.get $some) (i64.sub (local.get $some) (i64.const 1))))
                        (br $each)))))))
            (br_if $passed (i64.eqz (local.get $brackets)))
            ;; The bracket itself.
            (if (i64.eqz (i64.and (local.get $opens)
                (i64.and (local.get $brackets) (i64.sub (i64.const 0) (local.get $brackets)))))
              (then
                (if (i32.eqz (global.get $nest))
                  (then
                    (global.set $isDone (i32.const 1))
                    (global.set $isString (i32.const 0))
                    (global.set $breaks (i32.add (global.get $breaks)
                      (i32.wrap_i64 (i64.popcnt (i64.and (local.get $lines) (local.get $before))))))
                    (local.set $at (i32.add (local.get $at) (i32.wrap_i64 (i64.ctz (local.get $brackets)))))
                    (br $stop)))
                (global.set $nest (i32.sub (global.get $nest) (i32.const 1)))
                (if (i32.and (global.get $isLines) (i32.eqz (global.get $nest)))
                  (then (call $border
                    (i32.add (local.get $at) (i32.add (i32.wrap_i64 (i64.ctz (local.get $brackets))) (i32.const 1)))
                    (i32.add (global.get $breaks)
                      (i32.wrap_i64 (i64.popcnt (i64.and (local.get $lines) (local.get $before)))))))))
              (else (global.set $nest (i32.add (global.get $nest) (i32.const 1)))))
            (local.set $brackets (i64.and (local.get $brackets) (i64.sub (local.get $brackets) (i64.const 1))))
            (br $segments)))
        (global.set $breaks (i32.add (global.get $breaks) (i32.wrap_i64 (i64.popcnt (local.get $lines)))))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $blocks)))
    (local.get $at)))
