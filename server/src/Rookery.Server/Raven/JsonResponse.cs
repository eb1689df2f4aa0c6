using System.Text.Json;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>Sends small answers that are one JSON object.</summary>
internal static class JsonResponse
{
    /// <summary>Sends an object whose members <paramref name="members"/> writes.</summary>
    public static async Task SendAsync(
        HttpContext http,
        Action<Utf8JsonWriter> members,
        int status = StatusCodes.Status200OK
    )
    {
        using var answer = ResponseBuffer.Rent();
        using (var json = new Utf8JsonWriter(answer))
        {
            json.WriteStartObject();
            members(json);
            json.WriteEndObject();
        }

        http.Response.StatusCode = status;
        await answer.SendAsync(http);
    }
}
