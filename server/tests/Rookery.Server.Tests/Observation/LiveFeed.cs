using System.Text;
using System.Text.Json;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.Observation;

/// <summary>A client of the live stream.</summary>
internal sealed class LiveFeed : IDisposable
{
    private readonly HttpResponseMessage _response;
    private readonly StreamReader _events;

    private LiveFeed(HttpResponseMessage response, Stream stream)
    {
        _response = response;
        _events = new StreamReader(stream, Encoding.UTF8);
    }

    /// <summary>Opens the stream and reads the head of its answer.</summary>
    public static async Task<LiveFeed> OpenAsync(RunningServer server)
    {
        var answer = await server.Http.GetAsync(
            new Uri(server.Address, "/dashboard/live"),
            HttpCompletionOption.ResponseHeadersRead
        );
        Assert.Equal("text/event-stream", answer.Content.Headers.ContentType?.MediaType);
        return new LiveFeed(answer, await answer.Content.ReadAsStreamAsync());
    }

    /// <summary>Returns the next state; null when the stream has ended.</summary>
    public async Task<JsonElement?> NextAsync()
    {
        while (await _events.ReadLineAsync() is { } line)
        {
            if (line.StartsWith("data: ", StringComparison.Ordinal))
            {
                return JsonDocument.Parse(line["data: ".Length..]).RootElement.Clone();
            }
        }

        return null;
    }

    /// <summary>Returns the first state that meets a condition.</summary>
    public async Task<JsonElement> FirstAsync(Func<JsonElement, bool> holds)
    {
        using var timeout = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        while (!timeout.IsCancellationRequested)
        {
            var state =
                await NextAsync() ?? throw new InvalidOperationException("The stream ended before the condition held.");
            if (holds(state))
            {
                return state;
            }
        }

        throw new TimeoutException("The condition never held.");
    }

    public void Dispose()
    {
        _events.Dispose();
        _response.Dispose();
    }
}
