using System.Globalization;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Server.Dashboard;
using Rookery.Server.Raven.Databases;

namespace Rookery.Server.Raven;

/// <summary>Handles a request for one database.</summary>
internal delegate Task DatabaseHandler(HttpContext http, Database database);

/// <summary>
/// Wraps every handler of RavenDB's HTTP API: finds the database, waits for the read barrier, turns refusals into error
/// responses. A handler that completes synchronously runs without an async state machine, which would be allocated.
/// </summary>
internal static class RavenRoute
{
    /// <summary>Wraps a handler that needs no database.</summary>
    public static RequestDelegate OnServer(RequestDelegate handler) =>
        http =>
        {
            try
            {
                var handling = handler(http);
                return handling.IsCompletedSuccessfully ? handling : AwaitAndCatchAsync(http, handling);
            }
            catch (Exception failure) when (RavenErrors.AsRefusal(failure) is { } refused)
            {
                return WriteRefusalAsync(http, refused);
            }
        };

    /// <summary>Wraps a handler that needs no database and whose clients use the topology of the cluster.</summary>
    public static RequestDelegate OnCluster(ServerContext context, RequestDelegate handler) =>
        OnServer(http =>
        {
            SetRefreshTopologyHeader(context, http, "Cluster-Topology-Etag");
            return handler(http);
        });

    /// <summary>
    /// Wraps a handler of /databases/{database} that writes, or that needs no read barrier. Before it reports that a
    /// database is disabled, waits for the read barrier, because a lagging member may not have enabled it yet.
    /// </summary>
    public static RequestDelegate OnDatabase(ServerContext context, DatabaseHandler handler)
    {
        var enabled = OnlyEnabled(context, handler);
        return OnAnyDatabase(
            context,
            (http, database) =>
                database.Configurations.IsDisabled
                    ? FindAfterBarrierAsync(context, http, NameOf(http), enabled, RavenErrors.WriteDatabaseMissingAsync)
                    : enabled(http, database)
        );
    }

    /// <summary>
    /// Wraps a handler of /databases/{database} that also answers while the database is disabled.
    /// </summary>
    public static RequestDelegate OnAnyDatabase(ServerContext context, DatabaseHandler handler) =>
        OnServer(http =>
        {
            SetRefreshTopologyHeader(context, http, "Topology-Etag");
            return WithDatabase(context, http, NameOf(http), handler);
        });

    /// <summary>
    /// Wraps a handler of /databases/{database} that reads the database's configurations, even while it is disabled.
    /// The handler sees every configuration that was acknowledged before the request.
    /// </summary>
    public static RequestDelegate OnAnyDatabaseRead(ServerContext context, DatabaseHandler handler)
    {
        var wrapped = OnAnyDatabase(context, handler);
        // The database is looked up after the barrier, because disabling or enabling it creates a new object.
        return OnServer(async http =>
        {
            if (await TryPassBarrierAsync(context, http))
            {
                await wrapped(http);
            }
        });
    }

    /// <summary>
    /// Like <see cref="OnAnyDatabaseRead"/>, but reads what this node has applied if no leader is known.
    /// </summary>
    public static RequestDelegate OnAnyDatabaseNow(ServerContext context, DatabaseHandler handler)
    {
        var wrapped = OnAnyDatabase(context, handler);
        return OnServer(async http =>
        {
            if (!BeginIfLocalRead(context, http))
            {
                await context.Node.Consensus.ReadBarrierAsync();
            }

            await wrapped(http);
        });
    }

    /// <summary>
    /// Finds the database and calls <paramref name="handler"/>. Before it reports a database as missing, waits for the
    /// read barrier (until every acknowledged write is applied here). A node that has just started, or a lagging
    /// follower, may not have applied the database's creation yet, and clients take "missing" as final.
    /// </summary>
    public static Task WithDatabase(ServerContext context, HttpContext http, string name, DatabaseHandler handler) =>
        WithDatabase(context, http, name, handler, RavenErrors.WriteDatabaseMissingAsync);

    /// <summary>
    /// Finds the database and calls <paramref name="handler"/>; calls <paramref name="writeMissing"/>, which answers
    /// the request, if the database does not exist after the read barrier.
    /// </summary>
    public static Task WithDatabase(
        ServerContext context,
        HttpContext http,
        string name,
        DatabaseHandler handler,
        Func<HttpContext, string, Task> writeMissing
    ) =>
        context.Node.Databases.TryGet(name, out var database)
            ? handler(http, database)
            : FindAfterBarrierAsync(context, http, name, handler, writeMissing);

    /// <summary>
    /// Wraps a handler of /databases/{database} that reads. The handler sees every write that was acknowledged before
    /// the request. With <c>consistency=local</c> it reads what this node has applied, which needs no leader; the
    /// header Rookery-Applied-Index then reports the index.
    /// </summary>
    public static RequestDelegate OnDatabaseRead(ServerContext context, DatabaseHandler handler)
    {
        var enabled = OnlyEnabled(context, handler);
        return OnServer(http =>
        {
            SetRefreshTopologyHeader(context, http, "Topology-Etag");
            if (BeginIfLocalRead(context, http))
            {
                return WithDatabase(context, http, NameOf(http), enabled);
            }

            // The wait does not end when the client leaves: reading RequestAborted makes Kestrel allocate, and a
            // single node never waits here.
            var barrier = context.Node.Consensus.ReadBarrierAsync();
            return barrier.IsCompletedSuccessfully
                ? HandleAfterBarrier(barrier.Result, context, enabled, http)
                : HandleAfterBarrierAsync(barrier, context, enabled, http);
        });
    }

    /// <summary>
    /// Waits for the read barrier, for handlers that <see cref="OnDatabaseRead"/> does not wrap. With
    /// <c>consistency=local</c> it does not wait.
    /// </summary>
    /// <returns>Whether the handler may read. If not, the error is already sent.</returns>
    public static async ValueTask<bool> TryPassBarrierAsync(ServerContext context, HttpContext http)
    {
        if (BeginIfLocalRead(context, http) || await context.Node.Consensus.ReadBarrierAsync())
        {
            return true;
        }

        await WriteNoBarrierAsync(context, http, LocalReadHint(http));
        return false;
    }

    /// <summary>
    /// Returns the rejection of a read whose read barrier failed: why it failed, and what the client can do.
    /// </summary>
    /// <param name="context">The server.</param>
    /// <param name="hint">A sentence to append, with a leading space: how to read without a leader.</param>
    public static Rejection NoBarrierRejection(ServerContext context, string hint = "")
    {
        if (context.Node.Consensus.Refusal is { } refusal)
        {
            return refusal;
        }

        if (context.Stopping.IsCancellationRequested)
        {
            return new Rejection(RejectionKind.Stopping, Readiness.NodeStops);
        }

        return new Rejection(
            RejectionKind.NoLeader,
            $"This node cannot confirm the latest state now, because it does not reach a majority of the voters. Try "
                + $"again in a second, or use another node; `rookery status` shows what is missing.{hint}"
        );
    }

    private static string LocalReadHint(HttpContext http) =>
        SessionCookie.IsFromDashboard(http) ? LocalReads.ForPeople : LocalReads.ForPrograms;

    /// <summary>
    /// Returns whether the request has <c>consistency=local</c>. If so, sets the header Rookery-Applied-Index.
    /// </summary>
    /// <exception cref="RefusedException">The parameter has another value: 400.</exception>
    private static bool BeginIfLocalRead(ServerContext context, HttpContext http)
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
    /// Compares the topology etag that RavenDB's clients send. If it is outdated, sets the header that makes them fetch
    /// the topology again.
    /// </summary>
    private static void SetRefreshTopologyHeader(ServerContext context, HttpContext http, string header)
    {
        bool isOutdated =
            http.Request.Headers.TryGetValue(header, out var sent)
            && long.TryParse(
                sent.ToString().AsSpan().Trim('"'),
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out long etag
            )
            && etag < context.Node.Consensus.View.Etag;
        if (isOutdated)
        {
            http.Response.Headers["Refresh-Topology"] = "true";
        }
    }

    private static string NameOf(HttpContext http) => (string)http.Request.RouteValues["database"]!;

    private static async Task HandleAfterBarrierAsync(
        ValueTask<bool> barrier,
        ServerContext context,
        DatabaseHandler handler,
        HttpContext http
    ) => await HandleAfterBarrier(await barrier, context, handler, http);

    // The database is looked up after the barrier, because disabling or enabling it creates a new object.
    private static Task HandleAfterBarrier(
        bool isReached,
        ServerContext context,
        DatabaseHandler handler,
        HttpContext http
    ) =>
        !isReached ? WriteNoBarrierAsync(context, http, LocalReadHint(http))
        : context.Node.Databases.TryGet(NameOf(http), out var database) ? handler(http, database)
        : RavenErrors.WriteDatabaseMissingAsync(http, NameOf(http));

    private static DatabaseHandler OnlyEnabled(ServerContext context, DatabaseHandler handler) =>
        (http, database) =>
        {
            if (database.Configurations.IsDisabled)
            {
                return RavenErrors.WriteAsync(http, database.WhyDisabled());
            }

            ClientConfigurationRoutes.SetRefreshHeader(context, http, database);
            return handler(http, database);
        };

    private static async Task FindAfterBarrierAsync(
        ServerContext context,
        HttpContext http,
        string name,
        DatabaseHandler handler,
        Func<HttpContext, string, Task> writeMissing
    )
    {
        bool isBarrierReached = await context.Node.Consensus.ReadBarrierAsync();
        if (
            context.Node.Databases.TryGet(name, out var database)
            && (isBarrierReached || !database.Configurations.IsDisabled)
        )
        {
            await handler(http, database);
        }
        else if (isBarrierReached)
        {
            await writeMissing(http, name);
        }
        else
        {
            await WriteNoBarrierAsync(context, http);
        }
    }

    private static Task WriteNoBarrierAsync(ServerContext context, HttpContext http, string hint = "") =>
        RavenErrors.WriteAsync(http, NoBarrierRejection(context, hint));

    private static async Task AwaitAndCatchAsync(HttpContext http, Task handling)
    {
        try
        {
            await handling;
        }
        catch (Exception failure) when (RavenErrors.AsRefusal(failure) is { } refused)
        {
            await WriteRefusalAsync(http, refused);
        }
    }

    private static Task WriteRefusalAsync(HttpContext http, RefusedException refused)
    {
        if (!http.Response.HasStarted)
        {
            // The handler may have set the ETag of a response that it could not send.
            http.Response.Headers.ETag = default;
        }

        return RavenErrors.WriteAsync(http, refused);
    }
}
