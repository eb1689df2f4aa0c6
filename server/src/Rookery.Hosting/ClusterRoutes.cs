using System.Buffers;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Rookery.Cluster;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Membership;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;
using Rookery.Raft;
using Rookery.Server;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>
/// The /admin/cluster routes of a node, for administrators. POST tokens {"LifetimeSeconds"} creates a join token. nodes
/// lists and changes the members. POST clock/confirm confirms the voters' clocks. POST finalize-upgrade raises the
/// format level, and GET upgrade shows which level each member supports. GET authority shows the certificate
/// authorities, POST authority/rotate begins to replace the authority. POST authority/retire ends the trust in the old
/// one.
/// </summary>
/// <param name="log">The log, which gets a line for each change.</param>
internal sealed class ClusterRoutes(ILogger log)
{
    private const int MaxBodyBytes = 4 << 10;

    /// <summary>This node as a member of its cluster; null for a node without a cluster.</summary>
    public ClusterMember? Member { get; set; }

    /// <summary>The consensus of a node without a cluster, once its data is open; null for a member.</summary>
    public RaftConsensus? SingleNode { get; private set; }

    private ClusterRecordStore? SingleNodeRecords { get; set; }

    /// <summary>The routes.</summary>
    public IReadOnlyList<AdminRoute> All =>
        [
            new AdminRoute(HttpMethods.Post, "/admin/cluster/tokens", CreateTokenAsync) { TakesBody = true },
            new AdminRoute(HttpMethods.Get, "/admin/cluster/nodes", ListMembersAsync),
            Order(HttpMethods.Delete, "/admin/cluster/nodes", MemberOrder.Remove),
            Order(HttpMethods.Post, "/admin/cluster/nodes/promote", MemberOrder.Promote),
            Order(HttpMethods.Post, "/admin/cluster/nodes/demote", MemberOrder.Demote),
            Order(HttpMethods.Post, "/admin/cluster/nodes/transfer", MemberOrder.Transfer),
            new AdminRoute(HttpMethods.Post, "/admin/cluster/clock/confirm", ConfirmClockAsync),
            new AdminRoute(HttpMethods.Post, "/admin/cluster/finalize-upgrade", FinalizeUpgradeAsync),
            new AdminRoute(HttpMethods.Get, "/admin/cluster/upgrade", ShowUpgradeAsync),
            new AdminRoute(HttpMethods.Get, "/admin/cluster/authority", ShowAuthorityAsync),
            new AdminRoute(
                HttpMethods.Post,
                "/admin/cluster/authority/rotate",
                http =>
                    ChangeAuthorityAsync(
                        http,
                        "began to be replaced",
                        static rotation => rotation.BeginAsync(CancellationToken.None)
                    )
            ),
            new AdminRoute(
                HttpMethods.Post,
                "/admin/cluster/authority/retire",
                http =>
                    ChangeAuthorityAsync(
                        http,
                        "is not trusted any more",
                        static rotation => rotation.RetireAsync(CancellationToken.None)
                    )
            ),
        ];

    /// <summary>Registers the consensus of a node that is in no cluster, once its data is open.</summary>
    public RaftConsensus SetSingleNode(RaftConsensus singleNode, ClusterRecords records)
    {
        SingleNodeRecords = new ClusterRecordStore(singleNode, records, static _ => ChangeAnswer.NotLeader);
        SingleNode = singleNode;
        return singleNode;
    }

    private async Task CreateTokenAsync(HttpContext http)
    {
        if (Member is not { RecordStore: { } recordStore } member)
        {
            await RefuseWithoutClusterAsync(http);
            return;
        }

        byte[] body = new byte[MaxBodyBytes];
        int length = await http.Request.Body.ReadAtLeastAsync(
            body,
            body.Length,
            throwOnEndOfStream: false,
            http.RequestAborted
        );
        var (lifetime, fault) = ParseLifetime(body.AsMemory(0, length));
        if (fault is not null)
        {
            await ErrorResponse.WriteAsync(http, StatusCodes.Status400BadRequest, ErrorResponse.BadRequest, fault);
            return;
        }

        var (token, expires, refusal) = await new JoinTokens(() => member.Identity, recordStore).CreateAsync(
            lifetime,
            CancellationToken.None
        );
        if (token is null)
        {
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status503ServiceUnavailable,
                ErrorResponse.RavenException,
                refusal!
            );
            return;
        }

        log.LogInformation(
            LogEvents.JoinToken,
            "A token was made that lets one node join within {Minutes} minutes.",
            (int)lifetime.TotalMinutes
        );
        await SendAsync(
            http,
            StatusCodes.Status201Created,
            json =>
            {
                json.WriteString("Token"u8, token.ToText());
                json.WriteString("Expires"u8, expires);
                json.WriteString("Cluster"u8, member.Identity.ClusterName);
            }
        );
    }

    private async Task ListMembersAsync(HttpContext http)
    {
        if (Member is not { Membership: { } membership })
        {
            await RefuseWithoutClusterAsync(http);
            return;
        }

        var answer = await membership.AskAsync(MemberOrder.List, name: null, http.RequestAborted);
        if (answer.Status != StatusCodes.Status200OK)
        {
            await ErrorResponse.WriteAsync(http, answer.Status, ErrorResponse.RavenException, answer.Text);
            return;
        }

        http.Response.ContentType = "application/json";
        await http.Response.WriteAsync(answer.Text, http.RequestAborted);
    }

    private AdminRoute Order(string method, string path, MemberOrder order) =>
        new(method, path, http => SendOrderAsync(http, order)) { Parameters = ["name"] };

    private async Task SendOrderAsync(HttpContext http, MemberOrder order)
    {
        if (Member is not { Membership: { } membership })
        {
            await RefuseWithoutClusterAsync(http);
            return;
        }

        // An order that has begun is completed even if the client disconnects.
        await SendResultAsync(
            http,
            await membership.AskAsync(order, http.Request.Query["name"], CancellationToken.None)
        );
    }

    /// <summary>
    /// Raises the format level. Works also for a node without a cluster, because that node's data have formats too.
    /// </summary>
    private async Task FinalizeUpgradeAsync(HttpContext http)
    {
        if (SingleNode is { } singleNode)
        {
            await SendResultAsync(
                http,
                await UpgradeEnd.FinalizeAsync(singleNode, SingleNodeRecords!, CancellationToken.None)
            );
        }
        else
        {
            await SendOrderAsync(http, MemberOrder.FinalizeUpgrade);
        }
    }

    /// <summary>
    /// Shows which format level each member supports, as far as this node knows. Works also for a node without a
    /// cluster, and without a leader.
    /// </summary>
    private Task ShowUpgradeAsync(HttpContext http)
    {
        if (
            (SingleNode ?? Member?.Consensus) is not { } consensus
            || (SingleNode is null ? Member?.RecordStore : SingleNodeRecords) is not { } recordStore
        )
        {
            return RefuseWithoutClusterAsync(http);
        }

        var state = UpgradeEnd.Read(consensus, recordStore);
        return SendAsync(
            http,
            StatusCodes.Status200OK,
            json =>
            {
                json.WriteNumber("Level"u8, state.Level);
                json.WriteStartArray("Members"u8);
                foreach (var member in state.Members)
                {
                    json.WriteStartObject();
                    json.WriteString("Tag"u8, member.Tag);
                    json.WriteString("Name"u8, member.Name);
                    if (member.NewestLevel is { } newest)
                    {
                        json.WriteNumber("NewestLevel"u8, newest);
                    }
                    else
                    {
                        json.WriteNull("NewestLevel"u8);
                    }

                    json.WriteEndObject();
                }

                json.WriteEndArray();
            }
        );
    }

    private async Task SendResultAsync(HttpContext http, MemberAnswer answer)
    {
        if (answer.Status != StatusCodes.Status200OK)
        {
            await ErrorResponse.WriteAsync(http, answer.Status, ErrorResponse.RavenException, answer.Text);
            return;
        }

        log.LogInformation(LogEvents.ClusterOrder, "By order of an owner: {Done}", answer.Text);
        await SendAsync(http, StatusCodes.Status200OK, json => json.WriteString("Message"u8, answer.Text));
    }

    /// <summary>Confirms the voters' clocks. Works also for a node without a cluster.</summary>
    private async Task ConfirmClockAsync(HttpContext http)
    {
        if (SingleNode is not { } singleNode)
        {
            await SendOrderAsync(http, MemberOrder.ConfirmClock);
            return;
        }

        var (answer, sentence) = singleNode.ConfirmClock();
        if (answer != ClockAnswer.Confirmed)
        {
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status503ServiceUnavailable,
                ErrorResponse.RavenException,
                sentence
            );
            return;
        }

        log.LogInformation(LogEvents.ClusterOrder, "By order of an owner: {Done}", sentence);
        await SendAsync(http, StatusCodes.Status200OK, json => json.WriteString("Message"u8, sentence));
    }

    private Task ShowAuthorityAsync(HttpContext http) =>
        Member is not { Rotation: { } rotation } member
            ? RefuseWithoutClusterAsync(http)
            : SendAsync(
                http,
                StatusCodes.Status200OK,
                json =>
                {
                    json.WriteStartArray("Authorities"u8);
                    foreach (var authority in member.Identity.Authorities)
                    {
                        json.WriteStartObject();
                        json.WriteString("Subject"u8, authority.Subject);
                        json.WriteString(
                            "Sha256"u8,
                            Convert.ToHexStringLower(ClusterAuthority.FingerprintOf(authority))
                        );
                        json.WriteString("Certificate"u8, authority.ExportCertificatePem());
                        json.WriteEndObject();
                    }

                    json.WriteEndArray();
                    if (rotation.Status is { } running)
                    {
                        json.WriteString("Rotation"u8, running.Stage.ToString());
                        json.WriteStartArray("WaitsFor"u8);
                        foreach (string name in running.WaitsFor)
                        {
                            json.WriteStringValue(name);
                        }

                        json.WriteEndArray();
                    }
                }
            );

    /// <summary>Changes the certificate authority, and sends the authorities after the change.</summary>
    /// <param name="http">The request.</param>
    /// <param name="outcome">The change in words, for the log: the predicate of "the cluster's certificate
    /// authority".</param>
    /// <param name="change">Makes the change; returns null if it was made.</param>
    private async Task ChangeAuthorityAsync(
        HttpContext http,
        string outcome,
        Func<AuthorityRotation, ValueTask<Rejection?>> change
    )
    {
        if (Member is not { Rotation: { } rotation })
        {
            await RefuseWithoutClusterAsync(http);
        }
        else if (await change(rotation) is { } refusal)
        {
            await ErrorResponse.WriteAsync(http, StatusOf(refusal), ErrorResponse.RavenException, refusal.Message);
        }
        else
        {
            log.LogInformation(
                LogEvents.ClusterOrder,
                "By order of an owner the cluster's certificate authority {What}.",
                outcome
            );
            await ShowAuthorityAsync(http);
        }
    }

    // An unknown outcome is 500, because clients retry after 503, and the change may have been made.
    private static int StatusOf(Rejection refusal) =>
        refusal.Kind switch
        {
            RejectionKind.ConcurrencyConflict => StatusCodes.Status409Conflict,
            RejectionKind.OutcomeUnknown => StatusCodes.Status500InternalServerError,
            _ => StatusCodes.Status503ServiceUnavailable,
        };

    private static Task RefuseWithoutClusterAsync(HttpContext http) =>
        ErrorResponse.WriteAsync(
            http,
            StatusCodes.Status409Conflict,
            ErrorResponse.RavenException,
            "This node is in no cluster. Stop it, make it the first member of a cluster with `rookery cluster init "
                + "--data DIR`, and start it again."
        );

    /// <summary>Reads the lifetime of a new join token from the body of its request.</summary>
    /// <param name="body">The body, of which at most 4 KiB were read; empty for the default lifetime.</param>
    /// <returns>The lifetime, and why the body is refused; null if it is not.</returns>
    internal static (TimeSpan Lifetime, string? Fault) ParseLifetime(ReadOnlyMemory<byte> body)
    {
        const string Malformed = "The body must be empty, or a JSON object such as {\"LifetimeSeconds\":3600}.";
        if (body.IsEmpty)
        {
            return (JoinTokens.DefaultLife, null);
        }

        if (body.Length == MaxBodyBytes)
        {
            return (default, Malformed);
        }

        TimeSpan? lifetime = null;
        try
        {
            using var json = JsonDocument.Parse(body);
            foreach (var member in json.RootElement.EnumerateObject())
            {
                if (!member.NameEquals("LifetimeSeconds"u8))
                {
                    return (default, $"The body has the unknown member '{member.Name}'.");
                }

                if (lifetime is not null)
                {
                    return (default, $"The body has the member '{member.Name}' twice.");
                }

                if (
                    member.Value.ValueKind != JsonValueKind.Number
                    || !member.Value.TryGetInt64(out long seconds)
                    || seconds is < 1 or > 7 * 86_400
                )
                {
                    return (
                        default,
                        $"'{member.Name}' must be a whole number of seconds, at least one and at most a week."
                    );
                }

                lifetime = TimeSpan.FromSeconds(seconds);
            }
        }
        catch (Exception invalid) when (invalid is JsonException or InvalidOperationException)
        {
            return (default, Malformed);
        }

        return (lifetime ?? JoinTokens.DefaultLife, null);
    }

    private static async Task SendAsync(HttpContext http, int status, Action<Utf8JsonWriter> members)
    {
        var body = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(body))
        {
            json.WriteStartObject();
            members(json);
            json.WriteEndObject();
        }

        http.Response.StatusCode = status;
        http.Response.ContentType = "application/json";
        http.Response.ContentLength = body.WrittenCount;
        await http.Response.Body.WriteAsync(body.WrittenMemory, http.RequestAborted);
    }
}
