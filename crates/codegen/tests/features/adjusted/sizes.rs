const _: () = assert!(size_of::<enumerations::Kind>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<parts::Part>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<parts::Parts>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Order>() <= 168 && 168 <= 1024);
