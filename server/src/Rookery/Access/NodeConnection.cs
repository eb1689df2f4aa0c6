using System.Net.Http.Headers;
using System.Net.Security;
using System.Security.Cryptography.X509Certificates;

namespace Rookery.Access;

/// <summary>A running node, who asks it, and whom to trust.</summary>
/// <param name="Address">Where it answers.</param>
/// <param name="Token">Who asks; null for plain HTTP on this machine.</param>
/// <param name="Authorities">Whom to trust; null for those that the system trusts.</param>
internal sealed record NodeConnection(Uri Address, string? Token, X509Certificate2Collection? Authorities)
{
    /// <summary>A client for it, which the caller disposes.</summary>
    /// <param name="patience">How long an answer may take.</param>
    public HttpClient NewClient(TimeSpan patience)
    {
        var handler = new SocketsHttpHandler { AllowAutoRedirect = false, UseProxy = false };
        if (Authorities is not null)
        {
            var policy = new X509ChainPolicy { TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck, DisableCertificateDownloads = true };
            policy.CustomTrustStore.AddRange(Authorities);
            handler.SslOptions = new SslClientAuthenticationOptions { CertificateChainPolicy = policy };
        }

        var client = new HttpClient(handler) { Timeout = patience };
        if (Token is not null)
        {
            client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", Token);
        }

        return client;
    }
}
