using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Peers;

namespace Rookery.Cluster.Forming;

/// <summary>Sends a <see cref="FormingCall"/> to another forming node.</summary>
/// <param name="trust">Returns this node's certificate.</param>
/// <param name="phrase">The shared phrase.</param>
internal sealed class FormingCaller(Func<PeerTrust> trust, FormingPhrase phrase)
{
    private const int MaxAnswerBytes = 64 << 10;

    private static readonly TimeSpan RequestTimeout = TimeSpan.FromSeconds(5);

    /// <summary>Calls a node at an address.</summary>
    /// <returns>The answer of a node that knows the phrase.</returns>
    /// <exception cref="IOException">No node answers, or the node that answers does not know the phrase.</exception>
    public async Task<FormingAnswer> AskAsync(string address, FormingCall call, CancellationToken cancellationToken)
    {
        using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        timeout.CancelAfter(RequestTimeout);
        await using var stream = await PeerTls.ConnectToAnyoneAsync(address, trust(), timeout.Token);
        using var handler = new SocketsHttpHandler
        {
            UseProxy = false,
            AllowAutoRedirect = false,
            ConnectCallback = (_, _) => new ValueTask<Stream>(stream),
        };
        using var client = new HttpClient(handler) { MaxResponseContentBufferSize = MaxAnswerBytes };
        using var content = new ByteArrayContent(
            JsonSerializer.SerializeToUtf8Bytes(
                call with
                {
                    Proof = phrase.Prove(FormingEnd.Caller, stream.LocalCertificate!, stream.RemoteCertificate!),
                },
                ClusterJson.Default.FormingCall
            )
        );
        content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        using var response = await client.PostAsync(
            new Uri($"https://{address}{FormingRoute.Path}"),
            content,
            timeout.Token
        );
        if (response.StatusCode == HttpStatusCode.Forbidden)
        {
            throw new IOException("it has another phrase, or another name for the cluster");
        }

        if (response.StatusCode == HttpStatusCode.ServiceUnavailable)
        {
            throw new IOException("it is starting");
        }

        byte[] body = await response.Content.ReadAsByteArrayAsync(timeout.Token);
        if (
            response.StatusCode != HttpStatusCode.OK
            || ClusterJson.TryRead(body, ClusterJson.Default.FormingAnswer) is not { } answer
            || !MemberName.IsValid(answer.Name)
            || !phrase.IsProof(answer.Proof, FormingEnd.Answerer, stream.LocalCertificate!, stream.RemoteCertificate!)
        )
        {
            throw new IOException("it forms no cluster, or does not know the phrase");
        }

        return answer with
        {
            Token = WithAddress(answer.Token, address),
        };
    }

    /// <summary>Returns the token with the address that answered as its first address.</summary>
    private static string? WithAddress(string? token, string address)
    {
        if (token is null || !JoinToken.TryParse(token, out var parsed))
        {
            return null;
        }

        var others = parsed.Addresses.Where(other => !string.Equals(other, address, StringComparison.Ordinal));
        var changed = parsed with { Addresses = [address, .. others.Take(JoinToken.MaxAddresses - 1)] };
        return changed.ToText();
    }
}
