using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Queries.Execution;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Indexes;

/// <summary>State of a database's indexes on this node: stats, progress, staleness, status, terms and errors.</summary>
internal sealed class IndexStatusRoutes(ServerContext context)
{
    private const int TermsAtOnce = 1024;

    // Length of a page of terms, which is read before any of it is sent: a state of an index keeps its files while it
    // is open, and a client may take minutes to read.
    private const int MaxTermsBytes = 16 << 20;

    // The same as the default wait of a query.
    private const long MaxWaitMilliseconds = 15_000;

    /// <summary>GET indexes/stats[?name=…]: one object for each index.</summary>
    public Task StatsAsync(HttpContext http, Database database)
    {
        var indexes = Find(http, database);
        ShownIndex.RequestFreshness(context.Indexes, database, indexes);
        return SendAsync(http, indexes, WriteStats);
    }

    /// <summary>
    /// GET indexes/progress[?name=…][&amp;wait=…]. With <c>wait</c>, in milliseconds, it answers when the indexes have
    /// caught up with the documents stored before the request, or when the time is over. An index for which no request
    /// waits may gather changes for seconds before it writes them.
    /// </summary>
    public async Task ProgressAsync(HttpContext http, Database database)
    {
        var timeout = TimeSpan.FromMilliseconds(
            Math.Min(new QueryParameters(http).Number("wait", defaultValue: 0), MaxWaitMilliseconds)
        );
        if (timeout > TimeSpan.Zero)
        {
            long last = LastEtag(database);
            using var linked = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.Stopping);
            await Task.WhenAll(
                Find(http, database)
                    .Where(static index => index.IsStale)
                    .Select(index =>
                        context.Indexes.WaitAsync(database, index.Record.Name, last, timeout, linked.Token)
                    )
            );
        }

        await SendAsync(http, Find(http, database), WriteProgress);
    }

    /// <summary>
    /// GET indexes/errors[?name=…&amp;name=…]. The name of an index also selects the replacement that is built for its
    /// changed definition, because users look for its errors under that name.
    /// </summary>
    public Task ErrorsAsync(HttpContext http, Database database) =>
        SendAsync(
            http,
            Find(http, database, withReplacements: true),
            (json, index) =>
            {
                json.WriteString("Name"u8, index.Name);
                json.WriteStartArray("Errors"u8);
                foreach (var error in context.Indexes.ReadErrors(database, index.Record.Name, index.IsReplacement))
                {
                    json.WriteStartObject();
                    json.WriteString("Timestamp"u8, DocumentJson.Date(error.Time.UtcTicks));
                    json.WriteString("Document"u8, error.DocumentId);
                    json.WriteString("Action"u8, error.Action);
                    json.WriteString("Error"u8, error.Message);
                    json.WriteEndObject();
                }

                json.WriteEndArray();
            }
        );

    /// <summary>
    /// DELETE indexes/errors[?name=…&amp;name=…]: deletes the errors on this node. A missing index is refused with 400,
    /// because the Node client reads a 404 as an empty answer.
    /// </summary>
    public Task DeleteErrorsAsync(HttpContext http, Database database)
    {
        foreach (var index in Find(http, database, withReplacements: true, StatusCodes.Status400BadRequest))
        {
            context.Indexes.ClearErrors(database, index.Record.Name, index.IsReplacement);
        }

        return EmptyResponse.AnswerNoContent(http);
    }

    /// <summary>
    /// GET indexes/terms?name=…&amp;field=…[&amp;fromValue=…][&amp;pageSize=…]: the terms of a field in an index, in
    /// order, after a value; all without a size. Waits for an index that was defined or reset a moment ago. As in
    /// RavenDB, a field that the index lacks has no terms. A page of more than 16 MiB is refused.
    /// </summary>
    public async Task TermsAsync(HttpContext http, Database database)
    {
        var parameters = new QueryParameters(http);
        string name = parameters.RequiredText("name");
        string field = parameters.RequiredText("field");
        string? after = parameters.Text("fromValue") is { Length: > 0 } from ? from : null;
        long pageSize = parameters.Number("pageSize", long.MaxValue);
        var index = Find(database, [name])[0];
        if (index is { Status: null, WhyNotMaintained: null })
        {
            await IndexCommand.WaitUntilOpenAsync(context, http, database, index.Record.Name);
            index = Find(database, [name])[0];
        }

        if (index.Status is { IsResetRequested: true })
        {
            await IndexCommand.WaitUntilOpenAsync(context, http, database, index.Record.Name, isRebuilt: true);
            index = Find(database, [name])[0];
        }

        using var answer = new DocumentResponse(http, context.LargeRequests);
        // The whole answer is of one state, also if the index advances or is replaced meanwhile.
        using (
            var opened =
                new IndexedQueries(context.Indexes).OpenTerms(database, index.Record.Name, index.IsReplacement, field)
                ?? throw IndexCommand.NotOpen(context, database, index.Name)
        )
        using (var json = new Utf8JsonWriter(answer.Buffer))
        {
            var terms = ReadTerms(opened, after, pageSize);
            var slices = new RequestTimeSlices(context, http);
            json.WriteStartObject();
            json.WriteString("IndexName"u8, index.Name);
            json.WriteNumber("ResultEtag"u8, opened.Etag);
            json.WriteStartArray("Terms"u8);
            for (long left = pageSize; ; terms = ReadTerms(opened, terms[^1], left))
            {
                foreach (string term in terms)
                {
                    json.WriteStringValue(term);
                }

                json.Flush();
                if (terms.Count < CountOf(left) || (left -= terms.Count) == 0)
                {
                    break;
                }

                await slices.YieldWhenDueAsync();
                Reserve(answer, index.Name, field);
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }

        await answer.SendAsync();
    }

    private void Reserve(DocumentResponse answer, string index, string field)
    {
        if (answer.Buffer.Length > MaxTermsBytes)
        {
            throw RefusedException.BadRequest(
                $"The terms of '{field}' in the index '{index}' are longer than {Amount.Bytes(MaxTermsBytes)} as JSON. "
                    + "Read them page by page: give 'pageSize', and as 'fromValue' the last term of the page before."
            );
        }

        if (!answer.TryReserve(bytes: 0))
        {
            throw context.LargeRequests.CreateMemoryRefusal(answer.Buffer.Length);
        }
    }

    private static int CountOf(long left) => (int)Math.Min(left, TermsAtOnce);

    private static IReadOnlyList<string> ReadTerms(OpenedTerms opened, string? after, long left)
    {
        try
        {
            return opened.Read(after, CountOf(left));
        }
        catch (IndexDamagedException damaged)
        {
            throw IndexCommand.Damaged(damaged);
        }
    }

    /// <summary>GET indexes/staleness?name=…: whether an index is stale, and why.</summary>
    public Task StalenessAsync(HttpContext http, Database database)
    {
        var index = Find(database, [new QueryParameters(http).RequiredText("name")])[0];
        ShownIndex.RequestFreshness(context.Indexes, database, [index]);
        return JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteBoolean("IsStale"u8, index.IsStale);
                json.WriteStartArray("StalenessReasons"u8);
                if (index.IsStale)
                {
                    json.WriteStringValue(
                        index.Status switch
                        {
                            null => index.Trouble ?? "This node has not begun to build the index.",
                            { IsResetRequested: true } => "The index is about to be built from the beginning.",
                            var status => $"The index includes the documents through etag {status.VisibleEtag}, "
                                + $"and the last document has etag {status.LastEtag}.",
                        }
                    );
                }

                json.WriteEndArray();
            }
        );
    }

    /// <summary>GET indexes/status: whether each index runs on this node.</summary>
    public Task StatusAsync(HttpContext http, Database database)
    {
        var indexes = ShownIndex.All(context.Indexes, database);
        return JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteString("Status"u8, context.Indexes.IsPaused(database) ? "Paused"u8 : "Running"u8);
                json.WriteStartArray("Indexes"u8);
                foreach (var index in indexes)
                {
                    json.WriteStartObject();
                    json.WriteString("Name"u8, index.Name);
                    json.WriteString("Status"u8, index.RunningStatus);
                    json.WriteEndObject();
                }

                json.WriteEndArray();
            }
        );
    }

    /// <summary>Writes the members that an index has in the answer to <c>stats</c>.</summary>
    public static void WriteSummary(Utf8JsonWriter json, ShownIndex index)
    {
        json.WriteString("Name"u8, index.Name);
        json.WriteBoolean("IsStale"u8, index.IsStale);
        json.WriteString("State"u8, index.State);
        json.WriteString("LockMode"u8, index.Record.Settings.LockMode.ToString());
        json.WriteString("Priority"u8, index.Record.Settings.Priority.ToString());
        json.WriteString("Type"u8, index.Type);
        json.WriteString("SourceType"u8, index.SourceType);
        json.WriteString(
            "LastIndexingTime"u8,
            index.Status?.LastIndexed is { } time ? DocumentJson.Date(time.UtcTicks) : null
        );
    }

    private static void WriteStats(Utf8JsonWriter json, ShownIndex index)
    {
        WriteSummary(json, index);
        var status = index.Status;
        json.WriteString("Status"u8, index.RunningStatus);
        json.WriteString("Trouble"u8, index.Trouble);
        json.WriteNumber("EntriesCount"u8, status?.Documents ?? 0);
        json.WriteNumber("ErrorsCount"u8, index.Errors);
        json.WriteNumber("MapErrors"u8, index.Errors);
        json.WriteNumber("MappedPerSecondRate"u8, status?.Progress.PerSecond ?? 0);
        json.WriteStartObject("Collections"u8);
        foreach (string collection in index.Collections)
        {
            json.WriteStartObject(collection);
            json.WriteNumber("LastProcessedDocumentEtag"u8, status?.VisibleEtag ?? 0);
            json.WriteNumber("LastProcessedTombstoneEtag"u8, status?.VisibleEtag ?? 0);
            json.WriteNumber("DocumentLag"u8, RemainingOf(status));
            json.WriteNumber("TombstoneLag"u8, 0);
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    private static void WriteProgress(Utf8JsonWriter json, ShownIndex index)
    {
        json.WriteString("Name"u8, index.Name);
        json.WriteString("Type"u8, index.Type);
        json.WriteString("SourceType"u8, index.SourceType);
        json.WriteBoolean("IsStale"u8, index.IsStale);
        json.WriteString("State"u8, index.State);
        json.WriteString("IndexRunningStatus"u8, index.RunningStatus);
        json.WriteNumber("ProcessedPerSecond"u8, index.Status?.Progress.PerSecond ?? 0);
        if (index.Status?.Progress.TimeLeft is { } timeLeft)
        {
            json.WriteNumber("SecondsLeft"u8, Math.Ceiling(timeLeft.TotalSeconds));
        }
        else
        {
            json.WriteNull("SecondsLeft"u8);
        }

        json.WriteStartObject("Collections"u8);
        foreach (string collection in index.Collections)
        {
            json.WriteStartObject(collection);
            json.WriteNumber("LastProcessedItemEtag"u8, index.Status?.VisibleEtag ?? 0);
            json.WriteNumber("NumberOfItemsToProcess"u8, RemainingOf(index.Status));
            json.WriteNumber("TotalNumberOfItems"u8, index.Status?.Progress.Total ?? 0);
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    private static long LastEtag(Database database)
    {
        using var reader = database.OpenReader();
        return reader.ReadStatistics().LastEtag;
    }

    private static long RemainingOf(IndexStatus? status) =>
        status is null ? 0 : status.Progress.Total - status.Progress.Done;

    private static Task SendAsync(
        HttpContext http,
        List<ShownIndex> indexes,
        Action<Utf8JsonWriter, ShownIndex> members
    ) =>
        JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteStartArray("Results"u8);
                foreach (var index in indexes)
                {
                    json.WriteStartObject();
                    members(json, index);
                    json.WriteEndObject();
                }

                json.WriteEndArray();
            }
        );

    private List<ShownIndex> Find(
        HttpContext http,
        Database database,
        bool withReplacements = false,
        int missingStatus = StatusCodes.Status404NotFound
    )
    {
        var names = new List<string>();
        foreach (var parameter in new QueryParameters(http))
        {
            if (parameter.Is("name"))
            {
                names.Add(parameter.Text());
            }
        }

        return Find(database, names, withReplacements, missingStatus);
    }

    private List<ShownIndex> Find(
        Database database,
        List<string> names,
        bool withReplacements = false,
        int missingStatus = StatusCodes.Status404NotFound
    )
    {
        var matchingIndexes = ShownIndex.Named(context.Indexes, database, names, withReplacements);
        return
            names.Find(name => !matchingIndexes.Exists(index => IgnoredCase.OfNames.Equals(index.Name, name)))
                is { } missing
            ? throw IndexCommand.Missing(missing, missingStatus)
            : matchingIndexes;
    }
}
