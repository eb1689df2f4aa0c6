using System.Net;
using System.Text.Json;
using Rookery.Access;
using Rookery.Data;
using Rookery.Documents.Backups;

namespace Rookery;

/// <summary>Downloads a backup from a running node.</summary>
internal sealed class BackupDownload : IDisposable
{
    // The node pauses at most 2 s between two pieces. A pause longer than this means a stalled disk or a lost
    // connection.
    private static readonly TimeSpan PieceTimeout = TimeSpan.FromMinutes(2);

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

    /// <summary>Starts the backup at the node.</summary>
    /// <param name="node">The node.</param>
    /// <param name="time">The clock that measures the time limit.</param>
    /// <param name="cancellation">Cancels the wait.</param>
    /// <exception cref="BackupException">The node does not answer, or the server is not Rookery.</exception>
    /// <exception cref="AdminException">The node refuses, or hangs.</exception>
    public static Task<BackupDownload> BeginAsync(
        NodeConnection node,
        TimeProvider time,
        CancellationToken cancellation
    ) => ResponseWait.BoundBeginningAsync(node.Address, time, limited => BeginAsync(node, limited), cancellation);

    private static async Task<BackupDownload> BeginAsync(NodeConnection node, CancellationToken cancellation)
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
                throw new AdminException(
                    $"The node at {node.Address} refused the backup: {await ReasonAsync(node, response, cancellation)}",
                    NodeClient.ExitCodeOfNodeCommand(response.StatusCode)
                );
            }

            var stream = await response.Content.ReadAsStreamAsync(cancellation);
            await BackupWire.ReadPreambleAsync(stream, cancellation);
            return new BackupDownload(client, response, stream);
        }
        catch (HttpRequestException failure)
        {
            throw new BackupException($"{node.Describe(failure)} `--data DIR` copies a stopped node.");
        }
    }

    /// <summary>Reads the next piece, which is valid until the next call.</summary>
    /// <exception cref="BackupException">The connection broke, or the node sent nothing for two minutes.</exception>
    public async Task<BackupPiece> NextAsync(CancellationToken cancellation)
    {
        using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        timeout.CancelAfter(PieceTimeout);
        try
        {
            return await BackupWire.ReadPieceAsync(_stream, _buffer, timeout.Token);
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            throw new BackupException(
                $"The node sent nothing for {PieceTimeout.TotalSeconds} s. See its log, and take another backup."
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
            return json.RootElement.GetProperty("Message").GetString() is { } message
                ? NodeSentence.ForCommandUser(message, node)
                : $"status {(int)response.StatusCode}";
        }
        catch (Exception other) when (other is JsonException or KeyNotFoundException or InvalidOperationException)
        {
            return $"status {(int)response.StatusCode}, without a message of Rookery.";
        }
    }
}
