using System.Text.Json;
using Rookery.Server.Raven;

namespace Rookery.Server.Subscriptions;

/// <summary>How a worker shares a subscription with other workers.</summary>
internal enum OpeningStrategy
{
    /// <summary>Opens if no worker is connected.</summary>
    OpenIfFree,

    /// <summary>Replaces a connected worker.</summary>
    TakeOver,

    /// <summary>Waits until no worker is connected.</summary>
    WaitForFree,

    /// <summary>Shares the documents with other workers of this strategy.</summary>
    Concurrent,
}

/// <summary>The options that a worker sends when it connects.</summary>
internal sealed class WorkerOptions
{
    /// <summary>Longest name of a worker.</summary>
    public const int MaxWorkerIdLength = 128;

    /// <summary>Largest number of documents in a batch. A client that asks for more gets this many.</summary>
    public const int MaxBatchDocuments = 1 << 16;

    /// <summary>
    /// Largest number with <see cref="OpeningStrategy.Concurrent"/>, where the server remembers each document that is
    /// out.
    /// </summary>
    public const int MaxConcurrentBatchDocuments = 4096;

    private const string Subject = "the options of a worker";

    /// <summary>Name of the subscription.</summary>
    public string SubscriptionName { get; private set; } = string.Empty;

    /// <summary>The strategy.</summary>
    public OpeningStrategy Strategy { get; private set; }

    /// <summary>Maximum number of documents in a batch.</summary>
    public int BatchDocuments { get; private set; } = 4096;

    /// <summary>Whether the connection ends when all documents are processed.</summary>
    public bool ClosesWhenEmpty { get; private set; }

    /// <summary>The worker's name; null if it has none.</summary>
    public string? WorkerId { get; private set; }

    /// <summary>Reads the options.</summary>
    /// <exception cref="RefusedException">An option is unknown or not valid.</exception>
    public static WorkerOptions Read(ReadOnlySpan<byte> message)
    {
        var options = JsonBody.Read(
            message,
            static (ref Utf8JsonReader json) =>
            {
                var read = new WorkerOptions();
                JsonBody.ForEachMember(ref json, read.ReadMember, Subject);
                return read;
            }
        );
        if (options.Strategy == OpeningStrategy.Concurrent)
        {
            options.BatchDocuments = Math.Min(options.BatchDocuments, MaxConcurrentBatchDocuments);
        }

        return options.SubscriptionName.Length > 0
            ? options
            : throw RefusedException.BadRequest("A worker must name its subscription: 'SubscriptionName'.");
    }

    private void ReadMember(string name, ref Utf8JsonReader value)
    {
        switch (name)
        {
            case "SubscriptionName":
                SubscriptionName = JsonBody.ReadText(ref value, name) ?? string.Empty;
                break;
            case "Strategy":
                Strategy = ReadStrategy(JsonBody.ReadText(ref value, name));
                break;
            case "MaxDocsPerBatch":
                BatchDocuments = ReadCount(ref value, name);
                break;
            case "CloseWhenNoDocsLeft":
                ClosesWhenEmpty = value.TokenType switch
                {
                    JsonTokenType.True => true,
                    JsonTokenType.False or JsonTokenType.Null => false,
                    _ => throw RefusedException.BadRequest($"'{name}' must be true or false."),
                };
                break;
            case "WorkerId":
                WorkerId = JsonBody.ReadText(ref value, name);
                if (WorkerId is { Length: > MaxWorkerIdLength })
                {
                    throw RefusedException.BadRequest($"'WorkerId' has at most {MaxWorkerIdLength} characters.");
                }

                break;
            // These tell the client, not the server, what to do.
            case "TimeToWaitBeforeConnectionRetry"
            or "ConnectionStreamTimeout"
            or "IgnoreSubscriberErrors"
            or "MaxErroneousPeriod"
            or "ReceiveBufferSize"
            or "ReceiveBufferSizeInBytes"
            or "SendBufferSize"
            or "SendBufferSizeInBytes":
                value.Skip();
                break;
            default:
                JsonBody.RequireNull(ref value, name, Subject);
                break;
        }
    }

    private static OpeningStrategy ReadStrategy(string? text) =>
        text switch
        {
            null or "OpenIfFree" => OpeningStrategy.OpenIfFree,
            "TakeOver" => OpeningStrategy.TakeOver,
            "WaitForFree" => OpeningStrategy.WaitForFree,
            "Concurrent" => OpeningStrategy.Concurrent,
            _ => throw RefusedException.BadRequest(
                $"'Strategy' must be OpenIfFree, TakeOver, WaitForFree or Concurrent, not '{text}'."
            ),
        };

    private static int ReadCount(ref Utf8JsonReader value, string name) =>
        value.TokenType == JsonTokenType.Number && value.TryGetInt64(out long count) && count > 0
            ? (int)Math.Min(count, MaxBatchDocuments)
            : throw RefusedException.BadRequest($"'{name}' must be a whole number from 1.");
}
