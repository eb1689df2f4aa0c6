using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.Json;

namespace Rookery.Server.Tests.Subscriptions;

/// <summary>A client of RavenDB's TCP protocol that sends and expects single messages.</summary>
internal sealed class TcpWorker : IDisposable
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(30);

    private readonly TcpClient _client = new();
    private readonly byte[] _received = new byte[1 << 20];
    private Stream _stream = Stream.Null;
    private int _length;

    /// <summary>The client's port.</summary>
    public int Port { get; private set; }

    /// <summary>Connects to a port of this machine.</summary>
    public static async Task<TcpWorker> ConnectAsync(int port)
    {
        var worker = new TcpWorker();
        await worker._client.ConnectAsync("127.0.0.1", port);
        worker._client.NoDelay = true;
        worker.Port = ((System.Net.IPEndPoint)worker._client.Client.LocalEndPoint!).Port;
        worker._stream = worker._client.GetStream();
        return worker;
    }

    /// <summary>Begins TLS, and trusts any server.</summary>
    public async Task SecureAsync(X509Certificate2? certificate)
    {
        var tls = new SslStream(_stream);
        await tls.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                TargetHost = "127.0.0.1",
#pragma warning disable CA5359 // The test checks the server's view of the client.
                RemoteCertificateValidationCallback = static (_, _, _, _) => true,
#pragma warning restore CA5359
                ClientCertificates = certificate is null ? null : [certificate],
            }
        );
        _stream = tls;
    }

    /// <summary>Agrees on a version and opens a subscription.</summary>
    /// <returns>The first message after that.</returns>
    public async Task<JsonElement> OpenAsync(string database, string options, int version = 53_000)
    {
        await SendAsync(Header(database, version));
        Assert.Equal("Ok", Status(await ReadAsync()));
        await SendAsync(options);
        return await ReadAsync();
    }

    public static string Header(string database, int version = 53_000, string operation = "Subscription") =>
        $$"""
            {"DatabaseName":"{{database}}","Operation":"{{operation}}","SourceNodeTag":null,
            "OperationVersion":{{version}},"AuthorizeInfo":null,"LicensedFeatures":{"DataCompression":true} }
            """;

    public static string? Status(JsonElement message) => message.GetProperty("Status").GetString();

    public async Task SendAsync(string text)
    {
        await _stream.WriteAsync(Encoding.UTF8.GetBytes(text));
        await _stream.FlushAsync();
    }

    /// <summary>Reads the next message, and skips signs of life.</summary>
    public async Task<JsonElement> ReadAsync() =>
        await TryReadAsync() ?? throw new EndOfStreamException("The server closed the connection.");

    /// <summary>Reads messages up to the end of the batch; returns the ids of its documents.</summary>
    public async Task<List<string>> ReadBatchAsync()
    {
        var ids = new List<string>();
        while (true)
        {
            var message = await ReadAsync();
            switch (message.GetProperty("Type").GetString())
            {
                case "Data":
                    ids.Add(message.GetProperty("Data").GetProperty("@metadata").GetProperty("@id").GetString()!);
                    break;
                case "EndOfBatch":
                    return ids;
                default:
                    throw new InvalidDataException(message.GetRawText());
            }
        }
    }

    /// <summary>Acknowledges a batch and waits for the confirmation.</summary>
    public async Task AcknowledgeAsync()
    {
        await SendAsync("""{"Type":"Acknowledge"}""");
        Assert.Equal("Confirm", (await ReadAsync()).GetProperty("Type").GetString());
    }

    /// <summary>Reads the next message; null at the end of the connection.</summary>
    public async Task<JsonElement?> TryReadAsync()
    {
        using var timeout = new CancellationTokenSource(Timeout);
        while (true)
        {
            if (TryParse(out var message))
            {
                return message;
            }

            int read;
            try
            {
                read = await _stream.ReadAsync(_received.AsMemory(_length), timeout.Token);
            }
            catch (IOException)
            {
                return null;
            }

            if (read == 0)
            {
                return null;
            }

            _length += read;
        }
    }

    public void Dispose()
    {
        _stream.Dispose();
        _client.Dispose();
    }

    private bool TryParse(out JsonElement message)
    {
        message = default;
        int start = _received.AsSpan(0, _length).IndexOfAnyExcept("\r\n"u8);
        if (start < 0)
        {
            _length = 0;
            return false;
        }

        var reader = new Utf8JsonReader(
            _received.AsSpan(start, _length - start),
            isFinalBlock: false,
            new JsonReaderState()
        );
        if (!reader.Read() || !reader.TrySkip())
        {
            return false;
        }

        int end = start + (int)reader.BytesConsumed;
        message = JsonDocument.Parse(_received.AsMemory(start, end - start).ToArray()).RootElement;
        _received.AsSpan(end, _length - end).CopyTo(_received);
        _length -= end;
        return true;
    }
}
