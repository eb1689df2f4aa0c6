using System.Net;
using System.Text.Json;
using Rookery.Access;
using Rookery.Documents.Backups;

namespace Rookery;

/// <summary>A backup as it comes from a running node.</summary>
internal sealed class BackupDownload : IDisposable
{
    // The node rests 2 s at most between two pieces; a disk that stalls longer than this is the better explanation.
    private static readonly TimeSpan LongestSilence = TimeSpan.FromMinutes(2);

    private readonly HttpClient _client;
    private readonly HttpResponseMessage _response;
    private readonly Stream _stream;
    private readonly byte[] _buffer = new byte[BackupPiece.MaxBytes];

    private BackupDownload(HttpClient client, HttpResponseMessage response, Stream stream)
    {
        _client = client;
        _response = response;
        _stream = stream;
    }

    /// <summary>Asks the node to begin.</summary>
    /// <exception cref="BackupException">It does not answer, refuses, or is something else.</exception>
    public static async Task<BackupDownload> BeginAsync(NodeConnection node, CancellationToken cancellation)
    {
        var client = node.NewClient(Timeout.InfiniteTimeSpan);
        try
        {
            var response = await client.GetAsync(
                new Uri(node.Address, "/admin/node/backup"),
                HttpCompletionOption.ResponseHeadersRead,
                cancellation
            );
            if (response.StatusCode != HttpStatusCode.OK)
            {
                throw new BackupException(
                    $"The node at {node.Address} gave no backup: {await ReasonAsync(node, response, cancellation)}"
                );
            }

            var stream = await response.Content.ReadAsStreamAsync(cancellation);
            await BackupWire.ReadPreambleAsync(stream, cancellation);
            return new BackupDownload(client, response, stream);
        }
        catch (HttpRequestException failure)
        {
            throw new BackupException(
                node.Describe(failure, "Name its address with --url, or the directory of a stopped node with --data.")
            );
        }
    }

    /// <summary>The next piece, valid until the next call.</summary>
    /// <exception cref="BackupException">The node went away or silent.</exception>
    public async Task<BackupPiece> NextAsync(CancellationToken cancellation)
    {
        using var silence = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        silence.CancelAfter(LongestSilence);
        try
        {
            return await BackupWire.ReadPieceAsync(_stream, _buffer, silence.Token);
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            throw new BackupException(
                $"The node sent nothing for {LongestSilence.TotalSeconds} s. See its log, and take another backup."
            );
        }
        catch (IOException failure) when (failure is not BackupException)
        {
            throw new BackupException(
                "The connection to the node broke before the backup was complete. Take another backup."
            );
        }
    }

    public void Dispose()
    {
        _stream.Dispose();
        _response.Dispose();
        _client.Dispose();
    }

    private static async Task<string> ReasonAsync(
        NodeConnection node,
        HttpResponseMessage response,
        CancellationToken cancellation
    )
    {
        byte[] body = await ForeignAnswer.ReadAsync(response.Content, node.Address, cancellation);
        try
        {
            using var json = JsonDocument.Parse(body);
            return json.RootElement.GetProperty("Message").GetString() is { } said
                ? NodeSentence.ForOwner(said, node)
                : $"status {(int)response.StatusCode}";
        }
        catch (Exception other) when (other is JsonException or KeyNotFoundException or InvalidOperationException)
        {
            return $"it answered with status {(int)response.StatusCode}, and not as Rookery does.";
        }
    }
}
