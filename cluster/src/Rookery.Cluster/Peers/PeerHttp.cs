using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>HTTPS to another member's port for members: mutual, and only with whom is meant.</summary>
internal static class PeerHttp
{
    // A member that is off answers nothing: TCP alone would ask for two minutes.
    private static readonly TimeSpan ConnectPatience = TimeSpan.FromSeconds(5);

    /// <summary>A client for one member, which the caller disposes. It sets no limit to how long an answer takes: <see cref="Transfer.Silence"/> does, by what is asked for.</summary>
    public static HttpClient CreateClient(NodeIdentity self, NodeId member, string address)
    {
        var rule = self.PeerRule;
        var own = self.CertificateWithKey();
#pragma warning disable CA5359 // The rule of members judges: by the cluster's authority and the node's id, whatever name or address it is reached by.
        var handler = new SocketsHttpHandler
        {
            UseProxy = false,
            AllowAutoRedirect = false,
            ConnectTimeout = ConnectPatience,
            SslOptions = new SslClientAuthenticationOptions
            {
                ClientCertificates = [own],
                CertificateChainPolicy = rule.ChainPolicy(PeerRole.Server),
                RemoteCertificateValidationCallback = (_, presented, _, _) => rule.Judge((X509Certificate2?)presented, PeerRole.Server) is { Refusal: null } verdict && verdict.Member == member,
            },
        };
#pragma warning restore CA5359
        return new HttpClient(handler) { BaseAddress = new Uri($"https://{address}"), Timeout = Timeout.InfiniteTimeSpan };
    }
}
