"""What is wrong with a certificate, in a sentence that a person can pass on to the owner of the site."""

import ssl

# The codes of OpenSSL's X509_verify_cert_error_string.
SENTENCES = {
    9: "is not valid yet",
    10: "has expired",
    18: "is self-signed",
    19: "was signed by an authority that is not trusted here (a self-signed one)",
    20: "was signed by an authority that is not known here, or the server left out a link of the chain",
    21: "was signed by an authority that is not known here, or the server left out a link of the chain",
    23: "was revoked",
    62: "was issued for another host",
    64: "was issued for another address",
}


def sentence(problem: BaseException, host: str) -> str:
    """Why no encrypted connection came about."""
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"the certificate of {host} {SENTENCES.get(problem.verify_code, f'was refused: {problem.verify_message}')}"
    reason = getattr(problem, "reason", None) or str(problem)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL"):
        return f"{host} does not speak TLS there; is it http rather than https?"
    return f"no encrypted connection to {host}: {str(reason).replace('_', ' ').lower()}"
