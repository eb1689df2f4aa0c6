using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Records;
using Rookery.Server.Raven;
using Rookery.Server.Support;

namespace Rookery.Server.Access;

/// <summary>
/// POST /claim {"Code","Name"}: creates the first admin token of a cluster, if the code is the <see cref="ClaimCode"/>
/// of this node. The record <see cref="OwnerKey"/> ensures that a cluster is claimed once, at only one of its nodes.
/// </summary>
internal sealed class ClaimRoute(ServerContext context)
{
    /// <summary>
    /// Record that is stored with the first admin token and never deleted, so a cluster whose last admin token was
    /// revoked cannot be claimed again.
    /// </summary>
    public const string OwnerKey = ClusterRecordPrefix.Access + "owner";

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes
            .MapMethods("/claim", [HttpMethods.Post], RavenRoute.OnServer(new ClaimRoute(context).AnswerAsync))
            .For(RouteScope.Open)
            .Taking(RouteParameters.None);

    private async Task AnswerAsync(HttpContext http)
    {
        string? code = null;
        string? name = "admin";
        using (
            var body = await RequestBody.ReadAsync(
                http,
                AccessResponse.BodyBytes,
                context.LargeRequests,
                BodyUse.Objects
            )
        )
        {
            AccessResponse.ReadMembers(
                body.Span,
                (string member, ref System.Text.Json.Utf8JsonReader json) =>
                {
                    switch (member)
                    {
                        case "Code":
                            code = JsonBody.ReadText(ref json, member);
                            break;
                        case "Name":
                            name = JsonBody.ReadText(ref json, member);
                            break;
                        default:
                            throw AccessResponse.UnknownMember(member);
                    }
                }
            );
        }

        // Check the code before the read barrier: a caller without the code must not cause traffic between members.
        CheckUnclaimed();
        CheckCode(code);
        await AccessResponse.ReadBarrierAsync(context);
        CheckUnclaimed();
        var token = await new TokenMaker(context).MakeAsync(
            new TokenRequest(name, ["admin"], Databases: null, Lifetime: null),
            taken: null,
            writer => writer.Set(OwnerKey, "{}"u8, ClusterRecord.Absent)
        );
        context.Log.LogInformation(
            LogEvents.Claimed,
            "This node was claimed: the admin token '{Name}' was given.",
            name
        );
        await AccessResponse.SendTokenAsync(http, token);
    }

    private void CheckUnclaimed()
    {
        if (context.Access.IsClaimed(context.Node))
        {
            throw new RefusedException(
                StatusCodes.Status409Conflict,
                ErrorResponse.Forbidden,
                "This node has an owner. If the admin token is lost, root on the node's machine replaces it "
                    + "with `rookery token reset`."
            );
        }
    }

    private void CheckCode(string? code)
    {
        if (context.Options.ClaimCode is not { Length: > 0 } expected)
        {
            throw new RefusedException(
                StatusCodes.Status409Conflict,
                ErrorResponse.Forbidden,
                "This node uses plain HTTP without access control: there is nothing to claim. `rookery "
                    + "token create` makes tokens."
            );
        }

        if (!ClaimCode.IsSame(code ?? string.Empty, expected))
        {
            throw new RefusedException(
                StatusCodes.Status403Forbidden,
                ErrorResponse.Forbidden,
                "That is not the code of this node. It is in the file claim-code of its data directory; the "
                    + "node printed it at its start, unless its owner had preset it."
            );
        }
    }
}
