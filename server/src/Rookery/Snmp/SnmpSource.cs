using System.Text;
using Rookery.Access;

namespace Rookery.Snmp;

/// <summary>
/// The SNMP objects of a node, from its metrics, at most five seconds old. If the node does not answer, the objects
/// report that.
/// </summary>
/// <param name="node">The node.</param>
/// <param name="time">The clock.</param>
internal sealed class SnmpSource(NodeConnection node, TimeProvider time) : IDisposable
{
    // An SNMP manager repeats its request after a second, and gives up after a few.
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan CacheTime = TimeSpan.FromSeconds(5);

    private readonly HttpClient _client = node.NewClient(Timeout);
    private IReadOnlyList<SnmpObject> _objects = [];
    private long? _readAt;

    public async Task<IReadOnlyList<SnmpObject>> ReadAsync(CancellationToken cancellationToken)
    {
        if (_readAt is not { } readAt || time.GetElapsedTime(readAt) >= CacheTime)
        {
            _objects = SnmpTable.Of(await AskAsync(cancellationToken));
            _readAt = time.GetTimestamp();
        }

        return _objects;
    }

    public void Dispose() => _client.Dispose();

    private async Task<MetricSamples> AskAsync(CancellationToken cancellationToken)
    {
        try
        {
            using var answer = await _client.GetAsync(new Uri(node.Address, "/metrics"), cancellationToken);
            return answer.IsSuccessStatusCode
                ? MetricSamples.Parse(
                    Encoding.UTF8.GetString(await answer.Content.ReadAsByteArrayAsync(cancellationToken))
                )
                : MetricSamples.None(
                    $"The node responded with {(int)answer.StatusCode}. Check the token, which needs the "
                        + $"scope metrics."
                );
        }
        catch (HttpRequestException failure)
        {
            return MetricSamples.None((node with { NoAnswerHint = string.Empty }).Describe(failure));
        }
        catch (TaskCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return MetricSamples.None($"No node answers at {node.Address} within {Timeout.TotalSeconds:0} s.");
        }
    }
}
