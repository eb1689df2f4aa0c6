using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Server.Kestrel.Https;

namespace Rookery.Server.Access;

/// <summary>
/// TLS for clients. Every handshake requests a client certificate, because RavenDB's clients send it only in the
/// handshake. The request names the cluster's authorities (RFC 8446, 4.2.4), so a browser without a certificate that
/// they signed does not prompt its user. <see cref="AccessGate"/> checks at each request whether the certificate is
/// registered, because an HTTP refusal can carry a message.
/// </summary>
/// <param name="identity">Returns the node's identity; null if it has none yet.</param>
internal sealed class SecureEndpoint(Func<IServerIdentity?> identity)
{
    private volatile Current? _current;

    public TlsHandshakeCallbackOptions ToOptions() => new() { OnConnection = _ => ValueTask.FromResult(OptionsNow()) };

    // All connections of an identity share one options object, because the TLS library caches contexts and sessions by
    // that object.
    private SslServerAuthenticationOptions OptionsNow()
    {
        var currentIdentity = identity() ?? throw new AuthenticationException("This node has no certificate yet.");
        if (_current is { } known && ReferenceEquals(known.Identity, currentIdentity))
        {
            return known.Options;
        }

        var current = new Current(currentIdentity, OptionsOf(currentIdentity));
        _current = current;
        return current.Options;
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
            // A client without a certificate is accepted too, because its requests may carry a token. TLS has proven
            // that the client holds the key of its certificate; AccessGate checks whether the certificate is
            // registered.
#pragma warning disable CA5359
            RemoteCertificateValidationCallback = static (_, _, _, _) => true,
#pragma warning restore CA5359
        };

    private sealed record Current(IServerIdentity Identity, SslServerAuthenticationOptions Options);
}
