using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Rookery.Benchmarks;

/// <summary>
/// The upper bound of the framework: a Kestrel that only answers with the same number of bytes as Rookery.
/// </summary>
internal static class BareKestrel
{
    public static async Task<int> RunAsync(string listen, int bytes)
    {
        byte[] answer = new byte[bytes];
        Array.Fill(answer, (byte)'x');
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore().UseUrls(listen);
        var app = builder.Build();
        app.Run(context =>
            HttpMethods.IsPut(context.Request.Method) ? ReadAndAcceptAsync(context) : (Task)AnswerAsync(context, answer)
        );
        await app.RunAsync();
        return 0;
    }

    /// <summary>
    /// Runs the program that <c>dotnet new web</c> creates, with a handler that answers <paramref name="bytes"/> bytes.
    /// Its default garbage collector is the one for servers, which the caller sets in the environment
    /// (DOTNET_gcServer=1, DOTNET_gcConcurrent=1).
    /// </summary>
    public static async Task<int> RunTemplateAsync(string listen, int bytes)
    {
        byte[] answer = new byte[bytes];
        Array.Fill(answer, (byte)'x');
        var builder = WebApplication.CreateBuilder();
        builder.Logging.AddFilter("Microsoft.AspNetCore", LogLevel.Warning); // as its appsettings.json
        builder.WebHost.UseUrls(listen);
        var app = builder.Build();
        app.MapGet("/{**path}", (RequestDelegate)(async context => await AnswerAsync(context, answer)));
        await app.RunAsync();
        return 0;
    }

    private static Task<System.IO.Pipelines.FlushResult> AnswerAsync(HttpContext context, byte[] answer)
    {
        context.Response.ContentType = "application/json; charset=utf-8";
        context.Response.ContentLength = answer.Length;
        return context.Response.BodyWriter.WriteAsync(answer).AsTask();
    }

    private static async Task ReadAndAcceptAsync(HttpContext context)
    {
        var body = context.Request.BodyReader;
        while (true)
        {
            var read = await body.ReadAsync();
            body.AdvanceTo(read.Buffer.End);
            if (read.IsCompleted)
            {
                break;
            }
        }

        context.Response.StatusCode = StatusCodes.Status201Created;
        context.Response.ContentLength = 0;
    }
}
