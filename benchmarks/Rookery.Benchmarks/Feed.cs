using System.Diagnostics;
using System.Globalization;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;

namespace Rookery.Benchmarks;

/// <summary>PUTs real documents at a steady rate, for the long runs on the emulated card.</summary>
internal static class Feed
{
    private const int Connections = 16;

    /// <summary>
    /// Runs for some seconds, at a number of PUTs a second. Prints the acknowledged documents, their JSON bytes, and
    /// the seconds. The program's usage text explains <paramref name="order"/>.
    /// </summary>
    public static async Task<int> RunAsync(string url, string source, string order, int seconds, int rate)
    {
        var documents = ReadDocuments(source);
        if (order is "incompressible")
        {
            documents = [.. documents.Select((document, number) => Incompressible(document.Length, number))];
        }

        using var client = new HttpClient(new SocketsHttpHandler { MaxConnectionsPerServer = Connections });
        long started = Stopwatch.GetTimestamp();
        long next = -1;
        long acknowledged = 0;
        long bytes = 0;
        await Task.WhenAll(
            Enumerable
                .Range(0, Connections)
                .Select(worker =>
                    Task.Run(async () =>
                    {
                        var random = new Random(worker);
                        while (Stopwatch.GetElapsedTime(started).TotalSeconds < seconds)
                        {
                            long number = Interlocked.Increment(ref next);
                            double secondsEarly =
                                (number / (double)rate) - Stopwatch.GetElapsedTime(started).TotalSeconds;
                            if (secondsEarly > 0)
                            {
                                await Task.Delay(TimeSpan.FromSeconds(secondsEarly));
                            }

                            byte[] document = documents[number % documents.Length];
                            // Random updates: every eighth write stores a new document, whose id is a multiple of 8.
                            // The others replace one of those.
                            bool isUpdate = order is "random" && number % 8 != 0;
                            long id = isUpdate ? random.NextInt64(Math.Max(1, number / 8)) * 8 : number;
                            using var content = new ByteArrayContent(document);
                            content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
                            using var response = await client.PutAsync(
                                new Uri(
                                    string.Create(CultureInfo.InvariantCulture, $"{url}/docs?id=icons/{id:0000000000}")
                                ),
                                content
                            );
                            response.EnsureSuccessStatusCode();
                            Interlocked.Increment(ref acknowledged);
                            Interlocked.Add(ref bytes, document.Length);
                        }
                    })
                )
        );
        Console.WriteLine(
            string.Create(
                CultureInfo.InvariantCulture,
                $"{acknowledged} {bytes} {Stopwatch.GetElapsedTime(started).TotalSeconds:0.0}"
            )
        );
        return 0;
    }

    private static byte[][] ReadDocuments(string source)
    {
        // A sample spread over the file keeps the feeder's own memory small.
        using var bulk = JsonDocument.Parse(File.ReadAllBytes(source));
        int total = bulk.RootElement.GetArrayLength();
        int step = Math.Max(1, total / 40_000);
        return
        [
            .. bulk
                .RootElement.EnumerateArray()
                .Where((_, number) => number % step == 0)
                .Select(item => Encoding.UTF8.GetBytes(item.GetProperty("Document").GetRawText())),
        ];
    }

    private static byte[] Incompressible(int length, int seed)
    {
        // The text around the noise takes 60 bytes, and Base64 writes 3 bytes as 4 characters.
        byte[] noise = new byte[Math.Max(8, (length - 60) * 3 / 4)];
        new Random(seed).NextBytes(noise);
        return Encoding.UTF8.GetBytes(
            $"{{\"noise\":\"{Convert.ToBase64String(noise)}\",\"@metadata\":{{\"@collection\":\"Icons\"}}}}"
        );
    }
}
