using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven.Counters;

/// <summary>
/// GET counters: all counters of a document, or those that the request names. As in RavenDB, a named counter that does
/// not exist is null, and a document that does not exist has no counters.
/// </summary>
internal sealed class GetCounters(ServerContext context)
{
    public async Task HandleAsync(HttpContext http, Database database)
    {
        var parameters = new QueryParameters(http);
        string id = parameters.RequiredText("docId");
        byte[] idBytes = Documents.DocumentIdParameter.Check(id);
        bool isFull = parameters.Flag("full");
        var names = ReadNames(http);
        bool isAll = names.Count == 0;
        var slices = new RequestTimeSlices(context, http);
        using var answer = new DocumentResponse(http, context.LargeRequests);
        using (var reader = new AnswerReader(database, answer))
        {
            names = isAll ? CounterIncludes.Find(reader.Current, id, withNames: true)?.Names ?? [] : names;
            answer.Write("{\"Counters\":["u8);
            bool isFirst = true;
            foreach (byte[] name in names)
            {
                await slices.YieldWhenDueAsync();
                long neededBytes = (2 * CounterJson.DetailBytes) + (6L * (idBytes.Length + name.Length));
                while (!answer.TryReserve(neededBytes))
                {
                    reader.Pause();
                    await answer.WaitForMemoryAsync(neededBytes);
                }

                long? value = reader.Current.ReadCounter(idBytes, name, out long etag);
                if (isAll && value is null)
                {
                    continue; // deleted since the names were read; clients expect no null in a list of all
                }

                answer.Write(isFirst ? ""u8 : ","u8);
                isFirst = false;
                string? changeVector = isFull ? database.ChangeVectorOf(etag) : null;
                CounterJson.WriteDetail(answer.Buffer, idBytes, name, value, changeVector);
                await answer.SendWhenDueAsync(reader.Pause);
            }

            answer.Write("]}"u8);
        }

        // The snapshot is disposed before this, so that a slow client does not hold it while it reads the last part.
        await answer.SendAsync();
    }

    private static List<byte[]> ReadNames(HttpContext http)
    {
        var names = new List<byte[]>();
        foreach (var parameter in new QueryParameters(http))
        {
            if (parameter.Is("counter"))
            {
                names.Add(Encoding.UTF8.GetBytes(parameter.Text()));
            }
        }

        return names;
    }
}
