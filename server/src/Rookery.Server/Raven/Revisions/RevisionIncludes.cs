using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Revisions;
using Rookery.Json;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Revisions;

/// <summary>
/// Writes the revisions that an answer includes:
/// <c>,"RevisionIncludes":[{"Id","ChangeVector","Before","Revision"},…]</c>.
/// </summary>
internal static class RevisionIncludes
{
    /// <summary>Reads the time of revisions to include with documents; null if the request has none.</summary>
    /// <exception cref="RefusedException">The parameter is no time (400).</exception>
    public static long? ReadTicks(HttpContext http) =>
        new QueryParameters(http).Text("revisionsBefore") is { Length: > 0 } text
            ? GetRevisions.ReadTicks("revisionsBefore", text)
            : null;

    /// <summary>Writes the included revisions.</summary>
    /// <param name="answer">The response.</param>
    /// <param name="database">The database.</param>
    /// <param name="read">Returns the snapshot's reader, which is valid until the next pause.</param>
    /// <param name="pause">Called before a wait for memory.</param>
    /// <param name="changeVectors">Change vectors of revisions.</param>
    /// <param name="ids">Ids of the documents whose revision at <paramref name="ticks"/> is included.</param>
    /// <param name="ticks">The times; empty for none.</param>
    /// <param name="slices">Ends the work when the client leaves.</param>
    public static async Task WriteAsync(
        DocumentResponse answer,
        Database database,
        Func<DatabaseReader> read,
        Action pause,
        IEnumerable<string> changeVectors,
        IReadOnlyCollection<string> ids,
        IReadOnlyCollection<long> ticks,
        RequestTimeSlices slices
    )
    {
        answer.Write(",\"RevisionIncludes\":["u8);
        bool isFirst = true;
        using var revisions = new RevisionReader(read(), slices.CheckCancelled);
        foreach (string changeVector in changeVectors)
        {
            await slices.YieldWhenDueAsync();
            // Clients cannot read an include without a revision, so one that does not exist is left out.
            long etag = GetRevisions.EtagOf(database, changeVector);
            if (etag != 0 && revisions.TryFind(etag))
            {
                await WriteAsync(answer, database, read, pause, revisions, before: null, isFirst, slices);
                isFirst = false;
            }
        }

        foreach (string id in ids)
        {
            byte[] idBytes = Encoding.UTF8.GetBytes(id);
            foreach (long before in ticks)
            {
                await slices.YieldWhenDueAsync();
                if (idBytes.Length == 0 || !revisions.TrySelect(idBytes) || !revisions.TryFindAt(before))
                {
                    continue;
                }

                await WriteAsync(answer, database, read, pause, revisions, before, isFirst, slices);
                isFirst = false;
            }
        }

        answer.Write("]"u8);
    }

    private static async Task WriteAsync(
        DocumentResponse answer,
        Database database,
        Func<DatabaseReader> read,
        Action pause,
        RevisionReader revision,
        long? before,
        bool isFirst,
        RequestTimeSlices slices
    )
    {
        const int MemberBytes = 512;
        long neededBytes = MemberBytes + (RevisionReader.Copies * revision.Length);
        while (!answer.TryReserve(neededBytes))
        {
            // A request that waits for memory holds no revision. No block of the snapshot is held either.
            revision.Pause();
            pause();
            await answer.WaitForMemoryAsync(neededBytes);
            read().ThrowIfEnded();
            revision.Resume();
        }

        await slices.YieldWhenDueAsync(); // with the memory reserved
        read().ThrowIfEnded();
        answer.Write(isFirst ? "{\"Id\":"u8 : ",{\"Id\":"u8);
        JsonText.WriteString(answer.Buffer, revision.View.Id);
        string time = before is { } ticks ? $"\"{DocumentJson.Date(ticks)}\"" : "null";
        answer.Write(
            Encoding.ASCII.GetBytes(
                $",\"ChangeVector\":\"{database.ChangeVectorOf(revision.Etag)}\",\"Before\":{time},\"Revision\":"
            )
        );
        revision.Write(answer.Buffer, metadataOnly: false, Encoding.ASCII.GetBytes(database.HistoryId));
        answer.Write("}"u8);
        await answer.SendWhenDueAsync(pause);
    }
}
