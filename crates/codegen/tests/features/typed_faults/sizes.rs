const _: () = assert!(size_of::<Value>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<OutOfStock>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<EchoFault>() <= 40 && 40 <= 1024);
