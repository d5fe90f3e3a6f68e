package peer;

import peer.wspex.*;

/** The operations of WSpex without dates: what they get goes back through the types of the contract. */
public final class WsPex extends WSpexSkeleton {
    @Override public EchoVoidResponse echoVoid(EchoVoid request) { return new EchoVoidResponse(); }

    @Override public EchoIntegerResponse echoInteger(EchoInteger request) {
        EchoIntegerResponse response = new EchoIntegerResponse();
        response.set_return(request.getParams());
        return response;
    }

    @Override public EchoFloatResponse echoFloat(EchoFloat request) {
        EchoFloatResponse response = new EchoFloatResponse();
        response.set_return(request.getParameters());
        return response;
    }

    @Override public EchoStringResponse echoString(EchoString request) {
        EchoStringResponse response = new EchoStringResponse();
        response.set_return(request.getValue());
        return response;
    }

    @Override public EchoStructResponse echoStruct(EchoStruct request) {
        EchoStructResponse response = new EchoStructResponse();
        response.set_return(request.getParameters());
        return response;
    }

    @Override public EchoSyntheticResponse echoSynthetic(EchoSynthetic request) {
        EchoSyntheticResponse response = new EchoSyntheticResponse();
        response.set_return(request.getS());
        return response;
    }
}
