const _: () = assert!(size_of::<Value>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<EchoFault>() <= 16 && 16 <= 1024);
