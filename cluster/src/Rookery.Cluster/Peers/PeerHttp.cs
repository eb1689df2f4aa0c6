using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Microsoft.AspNetCore.Http;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>HTTPS to another member's port for members: mutual, and only with whom is meant.</summary>
internal static class PeerHttp
{
    /// <summary>
    /// The header in which a member says hello, as on its other connections: its certificate proves the node, and not
    /// that this is no old copy of it.
    /// </summary>
    public const string HelloHeader = "Rookery-Hello";

    // A member that is off answers nothing: TCP alone would ask for two minutes.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    /// <summary>
    /// A client for one member, which the caller disposes. Each of its connections is made to the first address at
    /// which that member is: of a member that listens on several networks most lead nowhere from here, or to another
    /// machine. It sets no limit to how long an answer takes: <see cref="Transfer.Silence"/> does, by what is asked
    /// for.
    /// </summary>
    /// <param name="trust">This node's certificate, and whom it takes for members.</param>
    /// <param name="member">Who must be there.</param>
    /// <param name="addresses">Where it may be, <c>host:port</c>, one at least, the likeliest first.</param>
    /// <param name="self">How this node introduces itself; null for one that does not run, and only asks who is
    /// there.</param>
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
            ConnectTimeout = Patience * addresses.Count,
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

    /// <summary>The hello in a request; null when there is none.</summary>
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
    /// The TLS stream of the first that is the member. The handler asks for no TLS of its own on top of one.
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
            using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            patience.CancelAfter(Patience);
            try
            {
                var (stream, proven) = await PeerTls.ConnectAsync(
                    address,
                    trust,
                    SslApplicationProtocol.Http11,
                    patience.Token
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
                bool isSilent = trouble is OperationCanceledException;
                troubles.Add($"{address}: {(isSilent ? $"silent for {Patience.TotalSeconds} s." : trouble.Message)}");
            }
        }

        throw new IOException($"It was not reached. {string.Join(' ', troubles)}");
    }
}
