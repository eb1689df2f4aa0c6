using System.Diagnostics;
using System.Text.Json;

namespace Rookery.Peers;

/// <summary>One query of a file of request bodies.</summary>
/// <param name="Text">RQL.</param>
/// <param name="Parameters">The parameters, as JSON.</param>
/// <param name="Parameter">The value of the parameter p, a text.</param>
internal sealed record AskedQuery(string Text, byte[] Parameters, string Parameter);

/// <summary>An engine that answers queries. Each thread has its own session.</summary>
internal interface IQuerySubject
{
    /// <summary>Creates a function that answers one query: it copies the documents of the page into memory, and returns
    /// the number of matches.</summary>
    Func<AskedQuery, long> BeginSession();
}

/// <summary>Repeats queries in random order, on one thread for each core.</summary>
internal static class QueryLoop
{
    public static void Run(IQuerySubject subject, string bodies, double seconds)
    {
        AskedQuery[] queries = [.. File.ReadLines(bodies).Select(Read)];
        var session = subject.BeginSession();
        Console.WriteLine("matches " + string.Join(',', queries.Select(session)));
        AnswerOnAllCores(subject, queries, seconds); // compiles the hot code
        Console.WriteLine($"queries/s {AnswerOnAllCores(subject, queries, seconds) / seconds:0}");
    }

    private static long AnswerOnAllCores(IQuerySubject subject, AskedQuery[] queries, double seconds)
    {
        long count = 0;
        var threads = Enumerable
            .Range(0, Environment.ProcessorCount)
            .Select(_ => new Thread(() => Interlocked.Add(ref count, Answer(subject, queries, seconds))))
            .ToList();
        threads.ForEach(static thread => thread.Start());
        threads.ForEach(static thread => thread.Join());
        return count;
    }

    private static long Answer(IQuerySubject subject, AskedQuery[] queries, double seconds)
    {
        var session = subject.BeginSession();
        long count = 0;
        long begun = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(begun).TotalSeconds < seconds)
        {
            session(queries[Random.Shared.Next(queries.Length)]);
            count++;
        }

        return count;
    }

    private static AskedQuery Read(string line)
    {
        using var body = JsonDocument.Parse(line);
        var parameters = body.RootElement.GetProperty("QueryParameters");
        return new AskedQuery(
            body.RootElement.GetProperty("Query").GetString()!,
            JsonSerializer.SerializeToUtf8Bytes(parameters),
            parameters.GetProperty("p").GetString()!
        );
    }
}
