;; Passes over lines that are clearly unlike the line before them, 16 bytes at a time. Whatever is not clear is left to
;; compare-lines.ts, with the same tables: at 0 BYTE_CLASS, at 256 BYTE_KIND, at 512 END_SHAPE (256 bytes each).
;; Compiled into pass-lines-binary.ts by scripts/compile-pass-lines.mjs.
(module
  (memory (export "memory") 2)

  ;; True if an id in hex digits starts here: six or more with a digit among them, or a part of a UUID. As hexEnd.
  (func $startsHex (param $start i32) (param $floor i32) (result i32)
    (local $at i32) (local $from i32) (local $digits i32) (local $kind i32) (local $length i32)
    (local.set $at (local.get $start))
    (if (i32.and
        (i32.eq (i32.load8_u (local.get $at)) (i32.const 48))
        (i32.eq (i32.or (i32.load8_u offset=1 (local.get $at)) (i32.const 32)) (i32.const 120)))
      (then
        (local.set $at (i32.add (local.get $at) (i32.const 2)))
        (local.set $digits (i32.const 6))))
    (local.set $from (local.get $at))
    (loop $hex
      (local.set $kind (i32.load8_u offset=256 (i32.load8_u (local.get $at))))
      (if (i32.and (local.get $kind) (i32.const 4))
        (then
          (local.set $digits (i32.add (local.get $digits) (i32.and (local.get $kind) (i32.const 1))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $hex))))
    (if (i32.and (local.get $kind) (i32.const 2)) (then (return (i32.const 0))))
    (local.set $length (i32.sub (local.get $at) (local.get $from)))
    (if (i32.or
        (i32.ge_u (local.get $digits) (i32.const 6))
        (i32.and (i32.ge_u (local.get $length) (i32.const 6)) (i32.ne (local.get $digits) (i32.const 0))))
      (then (return (i32.const 1))))
    (if (i32.or (i32.ne (local.get $length) (i32.const 4)) (i32.eq (local.get $start) (local.get $floor)))
      (then (return (i32.const 0))))
    (i32.and
      (i32.eq (i32.load8_u (i32.sub (local.get $start) (i32.const 1))) (i32.const 45))
      (i32.eq (i32.load8_u (local.get $at)) (i32.const 45))))

  ;; Where digits that go on from $at end.
  (func $afterDigits (param $at i32) (result i32)
    (loop $digits
      (if (i32.lt_u (i32.sub (i32.load8_u (local.get $at)) (i32.const 48)) (i32.const 10))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $digits))))
    (local.get $at))

  (func $afterSpaces (param $at i32) (result i32)
    (loop $spaces
      (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 32))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $spaces))))
    (local.get $at))

  ;; True if the lines at $first and $second, breaks included, surely have neither the same bytes nor the same shape.
  (func $unlike (param $first i32) (param $firstEnd i32) (param $second i32) (param $secondEnd i32) (result i32)
    (local $at i32) (local $length i32) (local $mask i32) (local $left i32) (local $right i32) (local $back i32)
    (local $kind i32) (local $varies i32) (local $a v128) (local $b v128) (local $from i32) (local $here i32)
    (local $there i32) (local $leftEnd i32) (local $rightEnd i32)
    (if (i32.eq (i32.add (local.get $first) (i32.const 1)) (local.get $firstEnd))
      (then (return (i32.ne (i32.add (local.get $second) (i32.const 1)) (local.get $secondEnd)))))
    (if (i32.eq (i32.add (local.get $second) (i32.const 1)) (local.get $secondEnd)) (then (return (i32.const 1))))
    (if (i32.ne
        (i32.load8_u offset=512 (i32.load8_u (i32.sub (local.get $firstEnd) (i32.const 2))))
        (i32.load8_u offset=512 (i32.load8_u (i32.sub (local.get $secondEnd) (i32.const 2)))))
      (then (return (i32.const 1))))
    (local.set $here (local.get $first))
    (local.set $there (local.get $second))
    (loop $stretch
      ;; What lies before $from was told to be alike, whatever its digits.
      (local.set $from (local.get $here))
      (local.set $at (i32.const 0))
      (local.set $length (i32.sub (local.get $firstEnd) (local.get $here)))
      (if (i32.lt_u (i32.sub (local.get $secondEnd) (local.get $there)) (local.get $length))
        (then (local.set $length (i32.sub (local.get $secondEnd) (local.get $there)))))
      ;; The first place where the bytes differ and are not both digits.
      (block $differs
        (loop $blocks
          (local.set $a (v128.load (i32.add (local.get $here) (local.get $at))))
          (local.set $b (v128.load (i32.add (local.get $there) (local.get $at))))
          (local.set $mask (i8x16.bitmask (v128.or
            (i8x16.eq (local.get $a) (local.get $b))
            (v128.and
              (i8x16.lt_u (i8x16.sub (local.get $a) (i8x16.splat (i32.const 48))) (i8x16.splat (i32.const 10)))
              (i8x16.lt_u (i8x16.sub (local.get $b) (i8x16.splat (i32.const 48))) (i8x16.splat (i32.const 10)))))))
          (br_if $differs (i32.ne (local.get $mask) (i32.const 0xffff)))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $blocks (i32.lt_u (local.get $at) (local.get $length))))
        (return (i32.const 0)))
      (local.set $at (i32.add (local.get $at) (i32.ctz (i32.xor (local.get $mask) (i32.const 0xffff)))))
      (if (i32.ge_u (local.get $at) (local.get $length)) (then (return (i32.const 0))))
      (local.set $here (i32.add (local.get $here) (local.get $at)))
      (local.set $there (i32.add (local.get $there) (local.get $at)))
      (local.set $left (i32.load8_u (local.get $here)))
      (local.set $right (i32.load8_u (local.get $there)))
      ;; Back to the start of the word: after a digit the difference may be one of numbers or units.
      (local.set $back (local.get $here))
      (block $start
        (loop $letters
          (br_if $start (i32.eq (local.get $back) (local.get $from)))
          (local.set $kind (i32.load8_u offset=256 (i32.load8_u (i32.sub (local.get $back) (i32.const 1)))))
          (if (i32.and (local.get $kind) (i32.const 1))
            (then
              (if (i32.ne (local.get $back) (local.get $here)) (then (return (i32.const 0))))
              ;; Whole numbers, one of them longer, are alike. Where more than that may be behind it, it is not clear.
              (local.set $leftEnd (call $afterDigits (local.get $here)))
              (local.set $rightEnd (call $afterDigits (local.get $there)))
              (if (i32.eq (i32.add (local.get $leftEnd) (local.get $rightEnd)) (i32.add (local.get $here) (local.get $there)))
                (then (return (i32.const 0))))
              (if (i32.and
                  (i32.or
                    (i32.load8_u offset=256 (i32.load8_u (local.get $leftEnd)))
                    (i32.load8_u offset=256 (i32.load8_u (local.get $rightEnd))))
                  (i32.const 10))
                (then (return (i32.const 0))))
              (if (i32.or
                  (i32.eq (i32.load8_u (i32.sub (local.get $here) (i32.const 1))) (i32.const 48))
                  (i32.eq (i32.load8_u (i32.sub (local.get $there) (i32.const 1))) (i32.const 48)))
                (then (return (i32.const 0))))
              (local.set $here (local.get $leftEnd))
              (local.set $there (local.get $rightEnd))
              (if (i32.and
                  (i32.eq (i32.load8_u (local.get $here)) (i32.const 32))
                  (i32.eq (i32.load8_u (local.get $there)) (i32.const 32)))
                (then
                  (local.set $here (call $afterSpaces (local.get $here)))
                  (local.set $there (call $afterSpaces (local.get $there)))))
              (br $stretch)))
          (br_if $start (i32.eqz (i32.and (local.get $kind) (i32.const 2))))
          ;; Inside a word a dash may end a part of a UUID.
          (if (i32.or (i32.eq (local.get $left) (i32.const 45)) (i32.eq (local.get $right) (i32.const 45)))
            (then (return (i32.const 0))))
          (local.set $back (i32.sub (local.get $back) (i32.const 1)))
          (br $letters))))
    (local.set $kind (select
      (i32.load8_u offset=256 (i32.load8_u (i32.sub (local.get $here) (i32.const 1))))
      (i32.const 0)
      (i32.ne (local.get $here) (local.get $from))))
    ;; Numbers, blanks that align them and hex ids may differ; two texts of under six bytes have no room for hex ids. After
    ;; a joint the one may be a number that goes on.
    (local.set $varies (select (i32.const 17) (i32.const 20) (i32.and
      (i32.eqz (i32.and (local.get $kind) (i32.const 8)))
      (i32.and
        (i32.lt_u (i32.sub (local.get $firstEnd) (local.get $first)) (i32.const 7))
        (i32.lt_u (i32.sub (local.get $secondEnd) (local.get $second)) (i32.const 7))))))
    (if (i32.or
        (i32.eqz (i32.and (i32.load8_u offset=256 (local.get $left)) (local.get $varies)))
        (i32.eqz (i32.and (i32.load8_u offset=256 (local.get $right)) (local.get $varies))))
      (then (return (i32.const 1))))
    (if (i32.and (local.get $kind) (i32.const 8)) (then (return (i32.const 0))))
    ;; A letter that is no part of a hex id is told from any other byte but a blank.
    (if (i32.or (i32.eq (local.get $left) (i32.const 32)) (i32.eq (local.get $right) (i32.const 32)))
      (then (return (i32.const 0))))
    (if (i32.eqz (call $startsHex (local.get $back) (local.get $first))) (then (return (i32.const 1))))
    (i32.eqz (call $startsHex
      (i32.add (local.get $back) (i32.sub (local.get $there) (local.get $here)))
      (local.get $second))))

  ;; From $start on, where the line at $before ends: passes over each line that is plain, whole and unlike the one before it.
  ;; Returns how many there were; leaves at 768 where the last of them begins, where it ends, and where the next one ends
  ;; if that is plain and whole, else 0.
  (func (export "pass") (param $before i32) (param $start i32) (param $end i32) (result i32)
    (local $at i32) (local $stops i32) (local $place i32) (local $byte i32) (local $lines i32) (local $class i32) (local $next i32)
    (local.set $at (local.get $start))
    (block $done
      (loop $blocks
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $stops (i8x16.bitmask (i8x16.lt_u (v128.load (local.get $at)) (i8x16.splat (i32.const 32)))))
        (loop $places
          (if (local.get $stops)
            (then
              (local.set $place (i32.add (local.get $at) (i32.ctz (local.get $stops))))
              (local.set $stops (i32.and (local.get $stops) (i32.sub (local.get $stops) (i32.const 1))))
              (br_if $done (i32.ge_u (local.get $place) (local.get $end)))
              (local.set $byte (i32.load8_u (local.get $place)))
              (local.set $class (i32.load8_u (local.get $byte)))
              (br_if $places (i32.eqz (local.get $class)))
              (local.set $place (i32.add (local.get $place) (i32.const 1)))
              (if (i32.ne (local.get $byte) (i32.const 10))
                (then
                  ;; A carriage return before a line feed is part of the break.
                  (br_if $done (i32.ne (local.get $byte) (i32.const 13)))
                  (br_if $done (i32.ge_u (local.get $place) (local.get $end)))
                  (br_if $done (i32.ne (i32.load8_u (local.get $place)) (i32.const 10)))
                  (br $places)))
              (if (i32.eqz (call $unlike (local.get $before) (local.get $start) (local.get $start) (local.get $place)))
                (then
                  (local.set $next (local.get $place))
                  (br $done)))
              (local.set $before (local.get $start))
              (local.set $start (local.get $place))
              (local.set $lines (i32.add (local.get $lines) (i32.const 1)))
              (br $places))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $blocks)))
    (i32.store offset=768 (i32.const 0) (local.get $before))
    (i32.store offset=772 (i32.const 0) (local.get $start))
    (i32.store offset=776 (i32.const 0) (local.get $next))
    (local.get $lines)))
