using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Microsoft.AspNetCore.Http;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>HTTPS clients for other members' ports, with certificates on both sides.</summary>
internal static class PeerHttp
{
    /// <summary>
    /// The header that carries a member's hello. The certificate proves the node's id; the hello shows that the node is
    /// not an old copy.
    /// </summary>
    public const string HelloHeader = "Rookery-Hello";

    // A member that is off does not answer, and TCP alone would retry for two minutes.
    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Makes a client for one member; the caller disposes it. Each connection tries the addresses in order until the
    /// member answers. Some may be unreachable from here, or belong to other machines. The client sets no time limit
    /// for responses; <see cref="Transfer.ResponseTimeout"/> sets one for each request.
    /// </summary>
    /// <param name="trust">This node's certificate, and the rule for members' certificates.</param>
    /// <param name="member">The member that must answer.</param>
    /// <param name="addresses">The member's addresses, <c>host:port</c>, at least one, the likeliest to answer
    /// first.</param>
    /// <param name="self">This node's hello; null for a recovery, which runs while the node is stopped.</param>
    public static HttpClient CreateClient(
        PeerTrust trust,
        NodeId member,
        IReadOnlyList<string> addresses,
        PeerHello? self
    )
    {
        var handler = new SocketsHttpHandler
        {
            UseProxy = false,
            AllowAutoRedirect = false,
            ConnectTimeout = ConnectTimeout * addresses.Count,
            ConnectCallback = async (_, cancellationToken) =>
                await ConnectAsync(trust, member, addresses, cancellationToken),
        };
        var client = new HttpClient(handler)
        {
            BaseAddress = new Uri($"https://{addresses[0]}"),
            Timeout = Timeout.InfiniteTimeSpan,
        };
        if (self is not null)
        {
            client.DefaultRequestHeaders.Add(HelloHeader, TextOf(self with { Kind = LinkKind.Control }));
        }

        return client;
    }

    /// <summary>Returns the hello of a request; null when it has none or a malformed one.</summary>
    public static PeerHello? HelloIn(HttpRequest request)
    {
        try
        {
            return request.Headers.TryGetValue(HelloHeader, out var text)
                ? PeerHello.Read(Convert.FromBase64String(text.ToString()))
                : null;
        }
        catch (Exception malformed) when (malformed is FormatException or PeerProtocolException)
        {
            return null;
        }
    }

    private static string TextOf(PeerHello hello)
    {
        byte[] bytes = new byte[hello.SizeInBytes];
        hello.Write(bytes);
        return Convert.ToBase64String(bytes);
    }

    /// <summary>
    /// Connects to the first address at which the member answers. Returns the TLS stream, to which the HTTP handler
    /// adds no further TLS.
    /// </summary>
    private static async Task<SslStream> ConnectAsync(
        PeerTrust trust,
        NodeId member,
        IReadOnlyList<string> addresses,
        CancellationToken cancellationToken
    )
    {
        List<string> troubles = [];
        foreach (string address in addresses)
        {
            using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            timeout.CancelAfter(ConnectTimeout);
            try
            {
                var (stream, proven) = await PeerTls.ConnectAsync(
                    address,
                    trust,
                    SslApplicationProtocol.Http11,
                    timeout.Token
                );
                if (Members.IdOf(proven) == member)
                {
                    return stream;
                }

                await stream.DisposeAsync();
                troubles.Add($"{address}: another member, {proven}, is there.");
            }
            catch (Exception trouble)
                when (!cancellationToken.IsCancellationRequested
                    && trouble
                        is PeerProtocolException
                            or SocketException
                            or IOException
                            or AuthenticationException
                            or OperationCanceledException
                )
            {
                string reason =
                    trouble is OperationCanceledException
                        ? $"silent for {ConnectTimeout.TotalSeconds} s."
                        : trouble.Message;
                troubles.Add($"{address}: {reason}");
            }
        }

        throw new IOException($"It was not reached. {string.Join(' ', troubles)}");
    }
}
