using System.Globalization;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Server.Dashboard;

namespace Rookery.Server.Raven;

/// <summary>What an answer about one database needs.</summary>
internal delegate Task DatabaseHandler(HttpContext http, Database database);

/// <summary>
/// The frame around every handler of this dialect: finds the database, waits for the read barrier, answers refusals. A
/// handler that completes synchronously passes without a state machine.
/// </summary>
internal static class RavenRoute
{
    /// <summary>A route of the server as a whole.</summary>
    public static RequestDelegate OnServer(RequestDelegate handler) =>
        http =>
        {
            try
            {
                var handling = handler(http);
                return handling.IsCompletedSuccessfully ? handling : CatchAsync(http, handling);
            }
            catch (Exception failure) when (RavenErrors.TryRefuse(failure) is not null)
            {
                return WriteAsync(http, RavenErrors.TryRefuse(failure)!);
            }
        };

    /// <summary>A route of the server as a whole, whose clients go by the topology of the cluster.</summary>
    public static RequestDelegate OnCluster(ServerContext context, RequestDelegate handler) =>
        OnServer(http =>
        {
            TellOfNewTopology(context, http, "Cluster-Topology-Etag");
            return handler(http);
        });

    /// <summary>A route under /databases/{database} that changes something, or that needs no fresh state.</summary>
    public static RequestDelegate OnDatabase(ServerContext context, DatabaseHandler handler) =>
        OnServer(http =>
        {
            TellOfNewTopology(context, http, "Topology-Etag");
            return WithDatabase(context, http, (string)http.Request.RouteValues["database"]!, handler);
        });

    /// <summary>
    /// Answers about a database that exists. A node that has just started knows only what it had applied before, and a
    /// follower may be behind. Says that a database is missing only behind the read barrier, because clients take that
    /// as final.
    /// </summary>
    public static Task WithDatabase(ServerContext context, HttpContext http, string name, DatabaseHandler handler) =>
        WithDatabase(context, http, name, handler, RavenErrors.WriteDatabaseMissingAsync);

    /// <summary>The same, with another answer for a missing database.</summary>
    public static Task WithDatabase(
        ServerContext context,
        HttpContext http,
        string name,
        DatabaseHandler handler,
        Func<HttpContext, string, Task> missing
    ) =>
        context.Node.Databases.TryGet(name, out var database)
            ? handler(http, database)
            : FindBehindBarrierAsync(context, http, name, handler, missing);

    /// <summary>
    /// A route under /databases/{database} that reads: it sees every write that was acknowledged before it began; with
    /// <c>consistency=local</c> what this node has, which works without a leader, and says so.
    /// </summary>
    public static RequestDelegate OnFreshDatabase(ServerContext context, DatabaseHandler handler) =>
        OnDatabase(
            context,
            (http, database) =>
            {
                if (IsLocal(context, http))
                {
                    return handler(http, database);
                }

                // Not the token of the request: reading RequestAborted makes Kestrel allocate, and one node alone never
                // waits here.
                var barrier = context.Node.Consensus.ReadBarrierAsync();
                return barrier.IsCompletedSuccessfully
                    ? AnswerBehind(barrier.Result, context, handler, http, database)
                    : WaitAsync(barrier, context, handler, http, database);
            }
        );

    /// <summary>
    /// The same outside a database: waits for the read barrier, unless the request asks for what this node has.
    /// </summary>
    /// <returns>False when it cannot say; the request is answered then.</returns>
    public static async ValueTask<bool> IsFreshAsync(ServerContext context, HttpContext http)
    {
        if (IsLocal(context, http) || await context.Node.Consensus.ReadBarrierAsync())
        {
            return true;
        }

        await WriteNotFreshAsync(context, http, LocalWillDo(http));
        return false;
    }

    /// <summary>Why this node cannot say what is newest, and what helps, in sentences.</summary>
    public static Rejection NotFresh(ServerContext context, string whatElse = "") =>
        context.Node.Consensus.Refusal
        ?? (
            context.Stopping.IsCancellationRequested
                ? new Rejection(RejectionKind.Stopping, Readiness.NodeStops)
                : new Rejection(
                    RejectionKind.NoLeader,
                    $"This node cannot say now what is newest: for that a majority of the voters has to be reachable "
                        + $"from it. Try again in a second, or another node; `rookery status` says what is "
                        + $"missing.{whatElse}"
                )
        );

    private static string LocalWillDo(HttpContext http) =>
        SessionCookie.IsOfPage(http) ? LocalReads.ForPeople : LocalReads.ForPrograms;

    private static bool IsLocal(ServerContext context, HttpContext http)
    {
        if (!new QueryParameters(http).TryGetEscaped("consistency", out var consistency) || consistency.IsEmpty)
        {
            return false;
        }

        if (consistency is not "local")
        {
            throw RefusedException.BadRequest(
                $"The parameter 'consistency' must be local, or be left out, not '{consistency}'."
            );
        }

        http.Response.Headers["Rookery-Applied-Index"] = context.Node.Consensus.AppliedIndex.ToString(
            CultureInfo.InvariantCulture
        );
        return true;
    }

    /// <summary>
    /// RavenDB's client sends the etag of the topology that it goes by, and asks for a new one when it is told to.
    /// </summary>
    private static void TellOfNewTopology(ServerContext context, HttpContext http, string header)
    {
        bool isOlder =
            http.Request.Headers.TryGetValue(header, out var sent)
            && long.TryParse(
                sent.ToString().AsSpan().Trim('"'),
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out long etag
            )
            && etag < context.Node.Consensus.View.Etag;
        if (isOlder)
        {
            http.Response.Headers["Refresh-Topology"] = "true";
        }
    }

    private static async Task WaitAsync(
        ValueTask<bool> barrier,
        ServerContext context,
        DatabaseHandler handler,
        HttpContext http,
        Database database
    ) => await AnswerBehind(await barrier, context, handler, http, database);

    private static Task AnswerBehind(
        bool isFresh,
        ServerContext context,
        DatabaseHandler handler,
        HttpContext http,
        Database database
    ) => isFresh ? handler(http, database) : WriteNotFreshAsync(context, http, LocalWillDo(http));

    private static async Task FindBehindBarrierAsync(
        ServerContext context,
        HttpContext http,
        string name,
        DatabaseHandler handler,
        Func<HttpContext, string, Task> missing
    )
    {
        bool isFresh = await context.Node.Consensus.ReadBarrierAsync();
        if (context.Node.Databases.TryGet(name, out var database))
        {
            await handler(http, database);
        }
        else if (isFresh)
        {
            await missing(http, name);
        }
        else
        {
            await WriteNotFreshAsync(context, http);
        }
    }

    private static Task WriteNotFreshAsync(ServerContext context, HttpContext http, string whatElse = "") =>
        RavenErrors.WriteAsync(http, NotFresh(context, whatElse));

    private static async Task CatchAsync(HttpContext http, Task handling)
    {
        try
        {
            await handling;
        }
        catch (Exception failure) when (RavenErrors.TryRefuse(failure) is not null)
        {
            await WriteAsync(http, RavenErrors.TryRefuse(failure)!);
        }
    }

    private static Task WriteAsync(HttpContext http, RefusedException refused)
    {
        if (!http.Response.HasStarted)
        {
            http.Response.Headers.ETag = default;
        }

        return RavenErrors.WriteAsync(http, refused);
    }
}
