using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.Indexes;

namespace Rookery.Server.Raven.Databases;

/// <summary>
/// stats, stats/essential, stats/detailed, collections/stats and collections/stats/detailed: counts of a database, from
/// one snapshot.
/// </summary>
internal sealed class StatisticsRoutes(ServerContext context)
{
    public Task StatsAsync(HttpContext http, Database database) => SendAsync(http, database, WriteAll);

    public Task EssentialAsync(HttpContext http, Database database) =>
        SendAsync(http, database, (json, reader, statistics) => WriteCounts(json, reader, statistics));

    public Task DetailedAsync(HttpContext http, Database database) =>
        SendAsync(
            http,
            database,
            (json, reader, statistics) =>
            {
                WriteAll(json, reader, statistics);
                json.WriteNumber("CountOfIdentities"u8, statistics.Identities);
                json.WriteNumber("CountOfCompareExchange"u8, statistics.CompareExchangeValues);
                json.WriteNumber("CountOfCompareExchangeTombstones"u8, 0);
                json.WriteNumber("CountOfTimeSeriesDeletedRanges"u8, 0);
                json.WriteNumber("CountOfRemoteAttachments"u8, 0);
            }
        );

    public Task CollectionsAsync(HttpContext http, Database database) =>
        SendCollectionsAsync(
            http,
            database,
            static (json, collection) =>
                json.WriteNumber(DocumentJson.CollectionName(collection.Name), collection.Documents)
        );

    public Task CollectionsDetailedAsync(HttpContext http, Database database) =>
        SendCollectionsAsync(
            http,
            database,
            static (json, collection) =>
            {
                string name = DocumentJson.CollectionName(collection.Name);
                json.WriteStartObject(name);
                json.WriteString("Name"u8, name);
                json.WriteNumber("CountOfDocuments"u8, collection.Documents);
                WriteSize(json, "Size"u8, collection.Bytes);
                WriteSize(json, "DocumentsSize"u8, collection.Bytes);
                json.WriteEndObject();
            }
        );

    private Task SendCollectionsAsync(
        HttpContext http,
        Database database,
        Action<Utf8JsonWriter, CollectionStatistics> member
    ) =>
        ListedMembers.SendAsync<CollectionStatistics>(
            context,
            http,
            database,
            static (json, reader) =>
            {
                json.WriteNumber("CountOfDocuments"u8, reader.ReadStatistics().Documents);
                json.WriteNumber("CountOfConflicts"u8, 0);
                json.WriteStartObject("Collections"u8);
            },
            static (reader, last) => reader.ReadCollections(last),
            member
        );

    private static async Task SendAsync(
        HttpContext http,
        Database database,
        Action<Utf8JsonWriter, DatabaseReader, DatabaseStatistics> members
    )
    {
        using var answer = ResponseBuffer.Rent();
        using (var reader = database.OpenReader())
        {
            var statistics = reader.ReadStatistics();
            JsonResponse.Write(answer, json => members(json, reader, statistics));
        }

        // The snapshot is disposed before this, so that a slow client does not hold it.
        await answer.SendAsync(http);
    }

    private List<ShownIndex> WriteCounts(Utf8JsonWriter json, in DatabaseReader reader, DatabaseStatistics statistics)
    {
        var indexes = ShownIndex.All(context.Indexes, reader.Database);
        ShownIndex.RequestFreshness(context.Indexes, reader.Database, indexes);
        json.WriteNumber("CountOfDocuments"u8, statistics.Documents);
        json.WriteNumber("CountOfTombstones"u8, statistics.Tombstones);
        json.WriteNumber(
            "CountOfIndexes"u8,
            indexes.Count(static index => index.Status is not { IsReplacement: true })
        );
        json.WriteNumber("CountOfConflicts"u8, 0);
        json.WriteNumber("CountOfDocumentsConflicts"u8, 0);
        json.WriteNumber("CountOfRevisionDocuments"u8, statistics.Revisions);
        json.WriteNumber("CountOfAttachments"u8, statistics.Attachments.Attachments);
        json.WriteNumber("CountOfUniqueAttachments"u8, statistics.Attachments.Contents);
        json.WriteNumber("CountOfCounterEntries"u8, statistics.DocumentCounters);
        json.WriteNumber("CountOfTimeSeriesSegments"u8, 0);
        json.WriteStartArray("Indexes"u8);
        foreach (var index in indexes)
        {
            json.WriteStartObject();
            IndexStatusRoutes.WriteSummary(json, index);
            json.WriteEndObject();
        }

        json.WriteEndArray();
        return indexes;
    }

    private void WriteAll(Utf8JsonWriter json, DatabaseReader reader, DatabaseStatistics statistics)
    {
        var database = reader.Database;
        var indexes = WriteCounts(json, reader, statistics);
        json.WriteNumber("LastDocEtag"u8, statistics.LastDocumentEtag);

        // As in RavenDB, only changes of documents count, and not operations that changed nothing.
        json.WriteNumber("LastDatabaseEtag"u8, statistics.LastDocumentEtag);
        json.WriteString(
            "DatabaseChangeVector"u8,
            statistics.LastDocumentEtag == 0 ? "" : database.ChangeVectorOf(statistics.LastDocumentEtag)
        );
        json.WriteString("DatabaseId"u8, database.HistoryId);
        json.WriteBoolean("Is64Bit"u8, true);
        json.WriteString("Pager"u8, "Rookery"u8);
        json.WriteString(
            "LastIndexingTime"u8,
            indexes.Max(static index => index.Status?.LastIndexed) is { } last ? DocumentJson.Date(last.UtcTicks) : null
        );
        long bytes = statistics.Attachments.Bytes;
        foreach (var collection in reader.ReadCollections())
        {
            bytes += collection.Bytes;
        }

        // The size of the uncompressed documents and of the contents of attachments. The files of rows contain all
        // databases together, so the size of one database's files is not known.
        WriteSize(json, "SizeOnDisk"u8, bytes);
        WriteSize(json, "TempBuffersSizeOnDisk"u8, bytes: 0);
        json.WriteNumber("NumberOfTransactionMergerQueueOperations"u8, 0);
    }

    private static void WriteSize(Utf8JsonWriter json, ReadOnlySpan<byte> name, long bytes)
    {
        json.WriteStartObject(name);
        json.WriteString("HumaneSize"u8, Humane(bytes));
        json.WriteNumber("SizeInBytes"u8, bytes);
        json.WriteEndObject();
    }

    private static string Humane(long bytes) =>
        bytes switch
        {
            < 1L << 10 => string.Create(CultureInfo.InvariantCulture, $"{bytes} Bytes"),
            < 1L << 20 => string.Create(CultureInfo.InvariantCulture, $"{bytes / 1024.0:0.##} KBytes"),
            < 1L << 30 => string.Create(CultureInfo.InvariantCulture, $"{bytes / 1048576.0:0.##} MBytes"),
            _ => string.Create(CultureInfo.InvariantCulture, $"{bytes / 1073741824.0:0.##} GBytes"),
        };
}
