using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Logging;
using Rookery.Cluster.Transfer;

namespace Rookery.Cluster.Tests.Transfer;

/// <summary>The routes of one node on a free loopback port, with faults between them and the client.</summary>
internal sealed class StateServer : IAsyncDisposable
{
    private readonly WebApplication _application;

    private StateServer(WebApplication application)
    {
        _application = application;
        Client = new HttpClient { BaseAddress = new Uri(application.Urls.First()) };
    }

    public HttpClient Client { get; }

    /// <summary>Starts the server.</summary>
    /// <param name="routes">The routes.</param>
    /// <param name="fault">Given the number of a file request, from 1, returns how many bytes of its body are sent
    /// before the connection breaks (null: all), and which byte is changed (negative: none).</param>
    public static async Task<StateServer> StartAsync(
        StateRoutes routes,
        Func<int, (long? BreakAfter, long Flip)>? fault = null
    )
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        var application = builder.Build();
        int requests = 0;
        application.Run(http =>
        {
            if (fault is not null && http.Request.Path != "/state/offer")
            {
                var (breakAfter, flip) = fault(++requests);
                http.Response.Body = new FaultyBody(http.Response.Body, breakAfter ?? long.MaxValue, flip);
            }

            return routes.InvokeAsync(http);
        });
        await application.StartAsync();
        return new StateServer(application);
    }

    public async Task<HttpResponseMessage> GetAsync(string path, string? range = null, HttpMethod? method = null)
    {
        using var request = new HttpRequestMessage(method ?? HttpMethod.Get, path);
        if (range is not null)
        {
            request.Headers.TryAddWithoutValidation("Range", range);
        }

        return await Client.SendAsync(request);
    }

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await _application.DisposeAsync();
    }

    /// <summary>A body that breaks off after some bytes, and in which one byte may be changed.</summary>
    private sealed class FaultyBody(Stream inner, long breakAfter, long flip) : Stream
    {
        private long _sent;

        public override bool CanRead => false;

        public override bool CanSeek => false;

        public override bool CanWrite => true;

        public override long Length => throw new NotSupportedException();

        public override long Position
        {
            get => throw new NotSupportedException();
            set => throw new NotSupportedException();
        }

        public override async ValueTask WriteAsync(
            ReadOnlyMemory<byte> buffer,
            CancellationToken cancellationToken = default
        )
        {
            byte[] bytes = buffer[..(int)Math.Min(buffer.Length, breakAfter - _sent)].ToArray();
            if (flip >= _sent && flip < _sent + bytes.Length)
            {
                bytes[flip - _sent] ^= 0x10;
            }

            await inner.WriteAsync(bytes, cancellationToken);
            await inner.FlushAsync(cancellationToken);
            _sent += bytes.Length;
            if (_sent >= breakAfter)
            {
                // An exception, not a reset: a reset could discard sent bytes, so the received number would be random.
                throw new InvalidOperationException("the connection breaks");
            }
        }

        public override void Flush() => inner.Flush();

        public override Task FlushAsync(CancellationToken cancellationToken) => inner.FlushAsync(cancellationToken);

        public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
    }
}
