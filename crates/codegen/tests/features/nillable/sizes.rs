const _: () = assert!(size_of::<Part>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<Price>() <= 48 && 48 <= 1024);
const _: () = assert!(size_of::<Shape>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Circle>() <= 48 && 48 <= 1024);
const _: () = assert!(size_of::<ShapeOrDerived>() <= 112 && 112 <= 1024);
const _: () = assert!(size_of::<Value>() <= 144 && 144 <= 1024);
