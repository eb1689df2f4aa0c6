using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Attachments;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Platform;
using Rookery.Queries.Answering;
using Rookery.Server.Raven.Indexes;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>
/// Sends a dump of one snapshot of a database. The bytes of attachments precede the first document that has them, as in
/// RavenDB's dumps. What RavenDB's dumps have and this one has not is named in the result of the operation.
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

    // Contents whose bytes were written. When there are more, some are written twice, which importers accept.
    private const int MaxRemembered = 64 << 10;

    private readonly byte[] _historyId = Encoding.ASCII.GetBytes(database.HistoryId);
    private readonly HashSet<ContentHash> _written = [];

    public async Task RunAsync()
    {
        http.Response.Headers.ContentDisposition =
            "attachment; filename*=UTF-8''" + Uri.EscapeDataString(database.Name + ".ravendbdump");
        using var answer = new DocumentResponse(http, context.LargeRequests, "application/octet-stream");
        using (var reader = new AnswerReader(database, answer))
        using (var dump = new DumpWriter(answer.Buffer))
        {
            NameLeftOut(reader.Current);
            dump.Begin();
            dump.WriteMember(
                "BuildVersion"u8,
                Encoding.ASCII.GetBytes(BuildVersion.ToString(CultureInfo.InvariantCulture))
            );
            var slices = new RequestTimeSlices(context, http);
            if (options.Has("Documents"))
            {
                dump.BeginList("Docs"u8);
                await WriteDocumentsAsync(answer, reader, dump, slices);
                dump.EndList();
            }

            if (options.Has("Indexes"))
            {
                dump.BeginList("Indexes"u8);
                WriteIndexes(reader, dump);
                dump.EndList();
            }

            if (options.Has("Identities"))
            {
                dump.BeginList("Identities"u8);
                await WriteIdentitiesAsync(answer, reader, dump, slices);
                dump.EndList();
            }

            if (options.Has("CompareExchange"))
            {
                dump.BeginList("CompareExchange"u8);
                await WriteCompareExchangeAsync(answer, reader, dump, slices);
                dump.EndList();
            }

            if (options.Has("CounterGroups") && reader.Current.ReadStatistics().DocumentCounters > 0)
            {
                dump.BeginList("CounterGroups"u8);
                await WriteCountersAsync(answer, reader, dump, slices);
                dump.EndList();
            }

            dump.End();
        }

        // The snapshot is disposed before this, so that a slow client does not hold it while it reads the last part.
        await answer.SendAsync();
    }

    private void NameLeftOut(in DatabaseReader reader)
    {
        if (options.Has("RevisionDocuments") && reader.ReadStatistics().Revisions is > 0 and var revisions)
        {
            operation.LeaveOut("Revisions", revisions);
        }

        foreach (string part in (string[])["DatabaseRecord", "Subscriptions"])
        {
            if (options.Has(part))
            {
                operation.Tell($"{part} is not part of this version's dumps.");
            }
        }
    }

    private async Task WriteDocumentsAsync(
        DocumentResponse answer,
        AnswerReader reader,
        DumpWriter dump,
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

            if (hasAttachments && TakeContents(cursor.Head.Attachments) is { Count: > 0 } contents)
            {
                StepBack();
                await WriteContentsAsync(answer, dump, contents, Pause);
                continue; // the cursor moves to the same document again
            }

            if (!await answer.TryReserveAsync(2 * cursor.Length, StepBack))
            {
                continue;
            }

            operation.Attachments.Add(hasAttachments ? CountOf(cursor.Head.Attachments) : 0);
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

    private bool IsWanted(in DocumentView document)
    {
        if (options.Collections is not { } collections)
        {
            return true;
        }

        return collections.Contains(Encoding.UTF8.GetString(document.Collection));
    }

    // The contents of a document that were not written yet.
    private List<(ContentHash Hash, long Size)> TakeContents(ReadOnlySpan<byte> attachments)
    {
        var contents = new List<(ContentHash, long)>();
        var list = new AttachmentList(attachments);
        while (list.TryRead(out var attachment))
        {
            if (!_written.Contains(attachment.Hash))
            {
                contents.Add((attachment.Hash, attachment.Size));
            }
        }

        if (contents.Count > 0 && _written.Count > MaxRemembered)
        {
            _written.Clear();
            return TakeContents(attachments);
        }

        return contents;
    }

    private static int CountOf(ReadOnlySpan<byte> attachments)
    {
        int count = 0;
        var list = new AttachmentList(attachments);
        while (list.TryRead(out _))
        {
            count++;
        }

        return count;
    }

    private async Task WriteContentsAsync(
        DocumentResponse answer,
        DumpWriter dump,
        List<(ContentHash Hash, long Size)> contents,
        Action pause
    )
    {
        var buffer = PooledMemory.Rent(ContentFile.ChunkBytes);
        try
        {
            foreach (var (hash, size) in contents)
            {
                if (!_written.Add(hash))
                {
                    continue; // twice in this document
                }

                using var file = Open(hash);
                if (file is null)
                {
                    continue;
                }

                WriteContentHead(dump, hash, size);
                for (int chunk = 0; chunk < file.ChunkCount; chunk++)
                {
                    operation.Killed.ThrowIfCancellationRequested();
                    dump.WriteRaw(buffer.Span[..file.ReadChunk(chunk, buffer.Span)]);
                    await answer.SendWhenDueAsync(pause);
                }
            }
        }
        catch (ContentDamagedException damaged)
        {
            // Bytes of the content are written already, so the dump cannot go on.
            throw new IOException(damaged.Message, damaged);
        }
        finally
        {
            buffer.Return();
        }
    }

    // A content can be deleted after the snapshot was taken. The importer then finds the document without it.
    private ContentFile? Open(ContentHash hash)
    {
        try
        {
            return context.Node.Attachments?.Open(database.Number, hash);
        }
        catch (Exception failure) when (failure is ContentDamagedException or DiskException)
        {
            operation.Attachments.Fail();
            operation.Tell($"The content {hash} of attachments is not in the dump. {failure.Message}");
            return null;
        }
    }

    private static void WriteContentHead(DumpWriter dump, ContentHash hash, long size)
    {
        using (var json = new Utf8JsonWriter(dump.Element))
        {
            json.WriteStartObject();
            json.WriteStartObject("@metadata"u8);
            json.WriteString("@export-type"u8, "Attachment"u8);
            json.WriteEndObject();
            json.WriteString("Hash"u8, hash.ToString());
            json.WriteNumber("Size"u8, size);
            json.WriteString("Tag"u8, ""u8);
            json.WriteEndObject();
        }

        dump.WriteElement();
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
                DatabaseReader.HasExpired(cursor.Head.ExpiresAtTicks, expiryTicks)
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

    // A value is followed by the etag of its change at the database that made it, of which there is one here.
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
