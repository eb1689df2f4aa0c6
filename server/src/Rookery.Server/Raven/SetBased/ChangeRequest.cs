using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Patching;
using Rookery.Queries.Answering;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Server.Raven.Queries;
using QueryValues = Rookery.Queries.Conditions.QueryParameters;

namespace Rookery.Server.Raven.SetBased;

/// <summary>A parsed and planned DELETE or PATCH of queries. It is executed once.</summary>
internal sealed class ChangeRequest : IDisposable
{
    /// <summary>
    /// How long the operation waits for a stale index before it fails, if the request sets no timeout.
    /// </summary>
    private static readonly TimeSpan DefaultWait = TimeSpan.FromMinutes(1);

    /// <summary>The plan of the query that selects the documents.</summary>
    public required QueryPlan Plan { get; init; }

    /// <summary>The encoded patch for each document; null to delete the documents.</summary>
    public required byte[]? Patch { get; init; }

    /// <summary>Whether the outcome of each document is recorded.</summary>
    public required bool WantsDetails { get; init; }

    /// <summary>Maximum number of documents to change in a second; 0 means no limit.</summary>
    public required long MaxPerSecond { get; init; }

    /// <summary>Bytes of memory that the query takes while it runs.</summary>
    public required long HeldBytes { get; init; }

    /// <summary>Reads a request.</summary>
    /// <exception cref="RefusedException">The request is invalid, or asks for something unsupported.</exception>
    public static ChangeRequest Read(
        HttpContext http,
        QueryRequest request,
        Database database,
        QueryEngine queries,
        bool isPatch,
        int formatLevel
    )
    {
        var parameters = new Raven.QueryParameters(http);
        if (parameters.Flag("ignoreMaxStepsForScript"))
        {
            throw RefusedException.NotSupported(
                "ignoreMaxStepsForScript: the steps of scripts are always bounded. Nothing was changed."
            );
        }

        var wait = WaitOf(parameters);
        bool wantsDetails = parameters.Flag("details");
        long maxPerSecond = parameters.Number("maxOpsPerSec", defaultValue: 0);
        try
        {
            var query = RqlParser.Parse(request.Text);
            if (!isPatch && query.Update is { } update)
            {
                throw new QueryException(
                    QueryFault.Invalid,
                    "'update' belongs in a patch by query: PATCH queries.",
                    update.Position - 1
                );
            }

            byte[]? patch = isPatch ? PatchOf(query, request, formatLevel) : null;
            return new ChangeRequest
            {
                Plan = queries.PlanChange(database, query, request, wait),
                Patch = patch,
                WantsDetails = wantsDetails,
                MaxPerSecond = maxPerSecond,
                HeldBytes = request.HeldBytes,
            };
        }
        catch (QueryException error)
        {
            throw QueryRefusal.Of(error, request.Text);
        }
    }

    /// <summary>Releases the memory of the plan.</summary>
    public void Dispose() => Plan.Dispose();

    private static TimeSpan? WaitOf(Raven.QueryParameters parameters)
    {
        bool allowsStale = parameters.Flag("allowStale");
        var wait = DefaultWait;
        if (parameters.Text("staleTimeout") is { Length: > 0 } timeout && !DurationText.TryParse(timeout, out wait))
        {
            throw RefusedException.BadRequest(
                $"The parameter 'staleTimeout' must be milliseconds or a TimeSpan like 00:00:05, not '{timeout}'."
            );
        }

        if (allowsStale)
        {
            return null;
        }

        return wait;
    }

    private static byte[] PatchOf(Query query, QueryRequest request, int formatLevel) =>
        PatchScript.TryEncode(
            QueryScripts.UpdateOf(query, changesMetadata: formatLevel >= FormatLevel.ScriptsOfSecondVersion),
            QueryValues.Read(request.Parameters).ToJson(),
            formatLevel,
            out byte[] program,
            out var error
        )
            ? program
            : throw RavenErrors.Refuse(error);
}
