using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Documents.Commands;
using Rookery.Documents.Records;

namespace Rookery.Cluster.Forming;

/// <summary>
/// POST <c>/cluster/form</c> on the port for members: answers the calls of other forming nodes. Refuses callers that do
/// not prove that they know the phrase.
/// </summary>
/// <param name="node">This node's state.</param>
/// <param name="phrase">Returns the phrase.</param>
/// <param name="tokens">Issues join tokens.</param>
/// <param name="addresses">Returns the addresses at which this node listens for members.</param>
/// <param name="log">Receives sentences about callers with another phrase.</param>
internal sealed class FormingRoute(
    FormingNode node,
    Func<FormingPhrase> phrase,
    JoinTokens tokens,
    Func<IReadOnlyList<string>> addresses,
    Action<string> log
)
{
    public const string Path = "/cluster/form";

    public async Task AnswerAsync(HttpContext http)
    {
        if (
            http.Features.Get<ISslStreamFeature>()?.SslStream
                is not { LocalCertificate: { } own, RemoteCertificate: { } caller }
            || await JoinRoutes.ReadAsync(http) is not { } body
            || ClusterJson.TryRead(body, ClusterJson.Default.FormingCall) is not { } call
            || !IsValid(call)
        )
        {
            http.Response.StatusCode = StatusCodes.Status400BadRequest;
            return;
        }

        if (!phrase().IsProof(call.Proof, FormingEnd.Caller, caller, own))
        {
            log(
                $"{call.Name} at {http.Connection.RemoteIpAddress} wants to form a cluster with this node, "
                    + $"and has another phrase, or another name for the cluster."
            );
            http.Response.StatusCode = StatusCodes.Status403Forbidden;
            return;
        }

        if (node.Answer(call) is not { } answer)
        {
            http.Response.StatusCode = StatusCodes.Status503ServiceUnavailable;
            return;
        }

        answer = answer with
        {
            Token = await TokenForAsync(call.NodeId, http.RequestAborted),
            Proof = phrase().Prove(FormingEnd.Answerer, caller, own),
        };
        await JoinRoutes.WriteAsync(
            http,
            StatusCodes.Status200OK,
            JsonSerializer.SerializeToUtf8Bytes(answer, ClusterJson.Default.FormingAnswer)
        );
    }

    private static bool IsValid(FormingCall call) =>
        call.NodeId.Length == HistoryId.Length && ClusterRecord.IsKey(call.NodeId) && MemberName.IsValid(call.Name);

    private async ValueTask<string?> TokenForAsync(string nodeId, CancellationToken cancellationToken)
    {
        var admitted = node.Note.Members.FirstOrDefault(member =>
            string.Equals(member.NodeId, nodeId, StringComparison.Ordinal)
        );
        if (admitted is null)
        {
            return null;
        }

        var token = await tokens.CreateAsync(admitted.Secret, addresses(), cancellationToken);
        return token?.ToText();
    }
}
