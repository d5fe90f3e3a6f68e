const _: () = assert!(size_of::<EchoRequestHeader>() <= 32 && 32 <= 1024);
