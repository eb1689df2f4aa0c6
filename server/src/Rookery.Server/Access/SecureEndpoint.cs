using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Server.Kestrel.Https;

namespace Rookery.Server.Access;

/// <summary>
/// TLS as clients meet it. Every connection is asked for a certificate in the handshake, because that is where
/// RavenDB's clients send theirs (renegotiation is gone from TLS 1.3, and they know nothing of authentication after the
/// handshake). The question names the cluster's own authorities (RFC 8446 4.2.4), so a browser that holds no
/// certificate of theirs does not ask its user for one. Whom a certificate belongs to is decided per request, where a
/// refusal can be a sentence.
/// </summary>
/// <param name="identity">What the node shows now; null while it has nothing to show.</param>
internal sealed class SecureEndpoint(Func<IServerIdentity?> identity)
{
    private volatile Current? _current;

    public TlsHandshakeCallbackOptions ToOptions() => new() { OnConnection = _ => ValueTask.FromResult(OptionsNow()) };

    // One set of options for all connections of an identity: the TLS library keeps what it prepared, and resumes
    // sessions, by it.
    private SslServerAuthenticationOptions OptionsNow()
    {
        var shown = identity() ?? throw new AuthenticationException("This node has no certificate yet.");
        if (_current is { } known && ReferenceEquals(known.Identity, shown))
        {
            return known.Options;
        }

        var made = new Current(shown, OptionsOf(shown));
        _current = made;
        return made.Options;
    }

    private static SslServerAuthenticationOptions OptionsOf(IServerIdentity identity) =>
        new()
        {
            ServerCertificateContext = SslStreamCertificateContext.Create(
                identity.Certificate,
                identity.Authorities,
                offline: true,
                SslCertificateTrust.CreateForX509Collection(identity.Authorities, sendTrustInHandshake: true)
            ),
            EnabledSslProtocols = SslProtocols.Tls12 | SslProtocols.Tls13,
            ClientCertificateRequired = true,
            CertificateRevocationCheckMode = X509RevocationMode.NoCheck,
            CertificateChainPolicy = new X509ChainPolicy
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                RevocationMode = X509RevocationMode.NoCheck,
                DisableCertificateDownloads = true,
            },
            // None is fine: the request may bring a token. TLS has proven that whoever shows one holds its key, and
            // AccessGate says whether it is registered.
#pragma warning disable CA5359
            RemoteCertificateValidationCallback = static (_, _, _, _) => true,
#pragma warning restore CA5359
        };

    private sealed record Current(IServerIdentity Identity, SslServerAuthenticationOptions Options);
}
