using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven;

/// <summary>
/// Answers with one object of any number of members, which are read from one snapshot and sent part by part. When they
/// were collected in memory first, 100,000 names of 400 bytes exceeded the memory of a node with 128 MiB.
/// </summary>
internal static class ListedMembers
{
    /// <summary>Sends the object.</summary>
    /// <param name="context">State that the routes share.</param>
    /// <param name="http">The request.</param>
    /// <param name="database">The database.</param>
    /// <param name="head">Writes the members that come first; an object that it leaves open is closed at the
    /// end.</param>
    /// <param name="read">Reads the items in order, those after the given one if it is not null.</param>
    /// <param name="member">Writes an item.</param>
    public static async Task SendAsync<T>(
        ServerContext context,
        HttpContext http,
        Database database,
        Action<Utf8JsonWriter, DatabaseReader> head,
        Func<DatabaseReader, T?, IEnumerable<T>> read,
        Action<Utf8JsonWriter, T> member
    )
        where T : struct
    {
        using var answer = new DocumentResponse(http, context.LargeRequests);
        using (var reader = new AnswerReader(database, answer))
        using (var json = new Utf8JsonWriter(answer.Buffer))
        {
            var slices = new RequestTimeSlices(context, http);
            json.WriteStartObject();
            head(json, reader.Current);
            T? last = null;
            bool isComplete = false;
            while (!isComplete)
            {
                isComplete = true;
                foreach (var item in read(reader.Current, last))
                {
                    member(json, item);
                    json.Flush();
                    last = item;
                    if (answer.Buffer.IsPartDue)
                    {
                        isComplete = false;
                        break;
                    }
                }

                await slices.YieldWhenDueAsync();
                await answer.SendWhenDueAsync(reader.Pause);
            }

            while (json.CurrentDepth > 0)
            {
                json.WriteEndObject();
            }
        }

        // The snapshot is disposed before this, so that a slow client does not hold it while it reads the last part.
        await answer.SendAsync();
    }
}
