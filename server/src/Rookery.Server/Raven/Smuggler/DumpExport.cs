using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Revisions;
using Rookery.Documents.Stored;
using Rookery.Documents.Subscriptions;
using Rookery.Queries.Answering;
using Rookery.Server.Raven.Indexes;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>
/// Sends a dump of one snapshot of a database. The bytes of attachments precede the first document that has them, as in
/// RavenDB's dumps.
/// </summary>
internal sealed class DumpExport(
    ServerContext context,
    HttpContext http,
    Database database,
    SmugglerOptions options,
    SmugglerOperation operation
)
{
    // The version of RavenDB whose form the dump has. Importers choose by it how they read old dumps.
    private const int BuildVersion = 62000;

    private readonly byte[] _historyId = Encoding.ASCII.GetBytes(database.HistoryId);

    public async Task RunAsync()
    {
        http.Response.Headers.ContentDisposition =
            "attachment; filename*=UTF-8''" + Uri.EscapeDataString(database.Name + ".ravendbdump");
        using var answer = new DocumentResponse(http, context.LargeRequests, "application/octet-stream");
        using (var reader = new AnswerReader(database, answer))
        using (var dump = new DumpWriter(answer.Buffer))
        {
            reader.Adopt(database.OpenReaderWithExpired()); // as the option IncludeExpired says
            dump.Begin();
            dump.WriteMember(
                "BuildVersion"u8,
                Encoding.ASCII.GetBytes(BuildVersion.ToString(CultureInfo.InvariantCulture))
            );
            if (options.Has("DatabaseRecord"))
            {
                DumpedRecord.Write(dump, database, reader.Current, options);
                operation.DatabaseRecord.Add();
            }

            var contents = new DumpContents(context, database, operation, answer, dump);
            var slices = new RequestTimeSlices(context, http);
            await WriteListAsync(
                dump,
                "Documents",
                "Docs",
                () => WriteDocumentsAsync(answer, reader, dump, contents, slices)
            );
            // Before the revisions: an import finds the documents with the counters that they have.
            await WriteListAsync(
                dump,
                "CounterGroups",
                "CounterGroups",
                () => WriteCountersAsync(answer, reader, dump, slices),
                isThere: reader.Current.ReadStatistics().DocumentCounters > 0
            );
            await WriteListAsync(
                dump,
                "RevisionDocuments",
                "RevisionDocuments",
                () => WriteRevisionsAsync(answer, reader, dump, contents, slices),
                isThere: reader.Current.ReadStatistics().Revisions > 0
            );
            await WriteListAsync(
                dump,
                "Indexes",
                "Indexes",
                () =>
                {
                    WriteIndexes(reader, dump);
                    return Task.CompletedTask;
                }
            );
            await WriteListAsync(
                dump,
                "Identities",
                "Identities",
                () => WriteIdentitiesAsync(answer, reader, dump, slices)
            );
            await WriteListAsync(
                dump,
                "CompareExchange",
                "CompareExchange",
                () => WriteCompareExchangeAsync(answer, reader, dump, slices)
            );
            await WriteListAsync(
                dump,
                "Subscriptions",
                "Subscriptions",
                () => WriteSubscriptionsAsync(answer, reader, dump, slices)
            );
            dump.End();
        }

        // The snapshot is disposed before this, so that a slow client does not hold it while it reads the last part.
        await answer.SendAsync();
    }

    private async Task WriteListAsync(DumpWriter dump, string type, string name, Func<Task> write, bool isThere = true)
    {
        if (options.Has(type) && isThere)
        {
            dump.BeginList(Encoding.ASCII.GetBytes(name));
            await write();
            dump.EndList();
        }
    }

    private async Task WriteDocumentsAsync(
        DocumentResponse answer,
        AnswerReader reader,
        DumpWriter dump,
        DumpContents contents,
        RequestTimeSlices slices
    )
    {
        bool hasAttachments = options.Has("Attachments") && reader.Current.ReadStatistics().Attachments.Attachments > 0;
        using var cursor = reader.Current.SeekByIdPrefix([]);
        while (cursor.MoveNext())
        {
            await slices.YieldWhenDueAsync();
            operation.Killed.ThrowIfCancellationRequested();
            if (!IsWanted(cursor.Head))
            {
                continue;
            }

            if (hasAttachments && contents.Take(cursor.Head.Attachments) is { Count: > 0 } unwritten)
            {
                StepBack();
                await contents.WriteAsync(unwritten, Pause);
                continue; // the cursor moves to the same document again
            }

            if (!await answer.TryReserveAsync(2 * cursor.Length, StepBack))
            {
                continue;
            }

            contents.Count(hasAttachments ? cursor.Head.Attachments : default);
            cursor.Write(dump.Element, _historyId);
            dump.WriteElement();
            operation.Documents.Add();
            await answer.SendWhenDueAsync(Pause);
        }

        void StepBack()
        {
            cursor.StepBack();
            reader.Pause();
        }

        void Pause()
        {
            cursor.Pause();
            reader.Pause();
        }
    }

    // Oldest first, because an import adds each as the newest one.
    private async Task WriteRevisionsAsync(
        DocumentResponse answer,
        AnswerReader reader,
        DumpWriter dump,
        DumpContents contents,
        RequestTimeSlices slices
    )
    {
        using var revisions = new RevisionReader(reader.Current, slices.CheckCancelled);
        byte[]? after = null;
        while (revisions.TrySelectNext(ref after))
        {
            while (revisions.MoveNextNewer())
            {
                operation.Killed.ThrowIfCancellationRequested();
                if (IsWanted(revisions.View))
                {
                    await WriteRevisionAsync(answer, reader, dump, contents, revisions);
                }

                await slices.YieldWhenDueAsync();
                _ = reader.Current;
            }
        }
    }

    private async Task WriteRevisionAsync(
        DocumentResponse answer,
        AnswerReader reader,
        DumpWriter dump,
        DumpContents contents,
        RevisionReader revisions
    )
    {
        var unwritten = options.Has("Attachments") ? contents.Take(revisions.View.Attachments) : [];
        long neededBytes = RevisionReader.Copies * revisions.Length;
        while (!answer.TryReserve(neededBytes))
        {
            Pause();
            await answer.WaitForMemoryAsync(neededBytes);
            Resume();
        }

        if (unwritten.Count > 0)
        {
            await contents.WriteAsync(unwritten, reader.Pause);
            _ = reader.Current;
        }

        revisions.Write(dump.Element, metadataOnly: false, _historyId);
        dump.WriteElement();
        operation.Revisions.Add();
        await answer.SendWhenDueAsync(reader.Pause);

        void Pause()
        {
            revisions.Pause();
            reader.Pause();
        }

        void Resume()
        {
            _ = reader.Current;
            revisions.Resume();
        }
    }

    private async Task WriteSubscriptionsAsync(
        DocumentResponse answer,
        AnswerReader reader,
        DumpWriter dump,
        RequestTimeSlices slices
    )
    {
        const int CopiesOfQuery = 8; // as text, and as JSON in which each character may take six bytes
        const int MostBytes = CopiesOfQuery * SubscriptionRecord.MaxQueryBytes;
        byte[]? after = null;
        while (true)
        {
            while (!answer.TryReserve(MostBytes))
            {
                reader.Pause();
                await answer.WaitForMemoryAsync(MostBytes);
            }

            if (SubscriptionRows.ReadNext(reader.Current, skipped: 0, ref after) is not { } subscription)
            {
                return;
            }

            using (var json = new Utf8JsonWriter(dump.Element))
            {
                DumpedSubscription.Write(json, database, subscription);
            }

            dump.WriteElement();
            operation.Subscriptions.Add();
            await slices.YieldWhenDueAsync();
            await answer.SendWhenDueAsync(reader.Pause);
        }
    }

    private bool IsWanted(in DocumentView document)
    {
        if (options.Collections is not { } collections)
        {
            return true;
        }

        return collections.Contains(Encoding.UTF8.GetString(document.Collection));
    }

    private void WriteIndexes(AnswerReader reader, DumpWriter dump)
    {
        foreach (var index in ShownIndex.All(context.Indexes, reader.Database))
        {
            if (index.IsAutomatic || index.IsReplacement)
            {
                continue; // queries create them again
            }

            using (var json = new Utf8JsonWriter(dump.Element))
            {
                json.WriteStartObject();
                json.WriteString("Type"u8, index.Type);
                json.WritePropertyName("IndexDefinition"u8);
                IndexDefinitionJson.Write(json, index);
                json.WriteEndObject();
            }

            dump.WriteElement();
            operation.Indexes.Add();
        }
    }

    private async Task WriteIdentitiesAsync(
        DocumentResponse answer,
        AnswerReader reader,
        DumpWriter dump,
        RequestTimeSlices slices
    )
    {
        IdentityValue? last = null;
        while (true)
        {
            var page = reader.Current.ReadIdentities(last).Take(256).ToList();
            foreach (var identity in page)
            {
                WriteKeyValue(dump, identity.Name, identity.Value.ToString(CultureInfo.InvariantCulture));
                operation.Identities.Add();
            }

            if (page.Count == 0)
            {
                return;
            }

            last = page[^1];
            await slices.YieldWhenDueAsync();
            await answer.SendWhenDueAsync(reader.Pause);
        }
    }

    private async Task WriteCompareExchangeAsync(
        DocumentResponse answer,
        AnswerReader reader,
        DumpWriter dump,
        RequestTimeSlices slices
    )
    {
        long expiryTicks = reader.Current.ReadExpiryTicks();
        var value = new ArrayBufferWriter<byte>();
        using var cursor = reader.Current.SeekCompareExchange([]);
        while (cursor.MoveNext())
        {
            await slices.YieldWhenDueAsync();
            operation.Killed.ThrowIfCancellationRequested();
            if (
                Expiry.HasPassed(cursor.Head.ExpiresAtTicks, expiryTicks)
                || IsGuard(cursor.Head)
                || !await answer.TryReserveAsync(3 * cursor.Length, StepBack)
            )
            {
                continue;
            }

            value.ResetWrittenCount();
            CompareExchangeValue.Write(value, cursor.View);
            WriteKeyValue(dump, Encoding.UTF8.GetString(cursor.Head.Id), Encoding.UTF8.GetString(value.WrittenSpan));
            operation.CompareExchange.Add();
            await answer.SendWhenDueAsync(Pause);
        }

        void StepBack()
        {
            cursor.StepBack();
            reader.Pause();
        }

        void Pause()
        {
            cursor.Pause();
            reader.Pause();
        }
    }

    // Guards are data of cluster-wide transactions, with the indexes of this cluster.
    private static bool IsGuard(in DocumentView value) =>
        Encoding
            .UTF8.GetString(value.Id)
            .StartsWith(Encoding.UTF8.GetString(CompareExchangeKey.GuardPrefix), StringComparison.OrdinalIgnoreCase);

    private async Task WriteCountersAsync(
        DocumentResponse answer,
        AnswerReader reader,
        DumpWriter dump,
        RequestTimeSlices slices
    )
    {
        using var cursor = reader.Current.SeekByIdPrefix([]);
        while (cursor.MoveNext())
        {
            await slices.YieldWhenDueAsync();
            operation.Killed.ThrowIfCancellationRequested();
            var names = cursor.Head.CounterNames;
            if (names.IsEmpty || !IsWanted(cursor.Head))
            {
                continue;
            }

            WriteCounters(reader, dump, cursor.Head.Id, names);
            await answer.SendWhenDueAsync(Pause);
        }

        void Pause()
        {
            cursor.Pause();
            reader.Pause();
        }
    }

    // Two numbers for each database that changed a counter: its part of the value, and the etag of its last change.
    // Here, one database changes all counters.
    private void WriteCounters(AnswerReader reader, DumpWriter dump, ReadOnlySpan<byte> id, ReadOnlySpan<byte> stored)
    {
        using (var json = new Utf8JsonWriter(dump.Element))
        {
            json.WriteStartObject();
            json.WriteString("DocId"u8, id);
            json.WriteString("ChangeVector"u8, ""u8);
            json.WriteStartObject("Values"u8);
            json.WriteStartArray("@dbIds"u8);
            json.WriteStringValue(database.HistoryId);
            json.WriteEndArray();
            json.WriteStartObject("@vals"u8);
            var names = new CounterNames(stored);
            while (names.MoveNext())
            {
                if (reader.Current.ReadCounter(id, names.Name, out long etag) is { } value)
                {
                    json.WriteStartArray(names.Name);
                    json.WriteNumberValue(value);
                    json.WriteNumberValue(etag);
                    json.WriteEndArray();
                    operation.Counters.Add();
                }
            }

            json.WriteEndObject();
            json.WriteEndObject();
            json.WriteEndObject();
        }

        dump.WriteElement();
    }

    private static void WriteKeyValue(DumpWriter dump, string key, string value)
    {
        using (var json = new Utf8JsonWriter(dump.Element))
        {
            json.WriteStartObject();
            json.WriteString("Key"u8, key);
            json.WriteString("Value"u8, value);
            json.WriteEndObject();
        }

        dump.WriteElement();
    }
}
