using System.Buffers;
using System.Text.Json;
using Microsoft.AspNetCore.Http;

namespace Rookery.Cluster.Joining;

/// <summary>
/// The HTTP routes for joining nodes, on the port for members. The callers have no client certificate. A node first
/// requests the list of authorities, checks it against its token, and then sends the token.
/// </summary>
/// <param name="registrar">Admits nodes.</param>
public sealed class JoinRoutes(Registrar registrar)
{
    /// <summary>GET: lists the authorities.</summary>
    public const string AuthorityPath = "/cluster/authority";

    /// <summary>POST: takes a token's secret and a certificate request; returns a certificate.</summary>
    public const string JoinPath = "/cluster/join";

    private const int MaxBodyBytes = 64 << 10;

    /// <summary>Handles <see cref="AuthorityPath"/>.</summary>
    public Task ListAuthoritiesAsync(HttpContext http) =>
        WriteAsync(
            http,
            StatusCodes.Status200OK,
            JsonSerializer.SerializeToUtf8Bytes(registrar.Authorities, ClusterJson.Default.AuthorityList)
        );

    /// <summary>Handles <see cref="JoinPath"/>.</summary>
    public async Task JoinAsync(HttpContext http)
    {
        if (
            await ReadAsync(http) is not { } body
            || ClusterJson.TryRead(body, ClusterJson.Default.JoinRequest) is not { } request
        )
        {
            await RefuseAsync(
                http,
                new JoinRefusal(
                    JoinError.Malformed,
                    "The request to join is malformed: the node may run another version of Rookery."
                )
            );
            return;
        }

        var (answer, refusal) = await registrar.AdmitAsync(request, http.RequestAborted);
        if (refusal is not null)
        {
            await RefuseAsync(http, refusal);
            return;
        }

        await WriteAsync(
            http,
            StatusCodes.Status200OK,
            JsonSerializer.SerializeToUtf8Bytes(answer!, ClusterJson.Default.JoinAnswer)
        );
    }

    private static Task RefuseAsync(HttpContext http, JoinRefusal refusal) =>
        WriteAsync(
            http,
            StatusOf(refusal.Error),
            JsonSerializer.SerializeToUtf8Bytes(refusal, ClusterJson.Default.JoinRefusal)
        );

    private static int StatusOf(JoinError error) =>
        error switch
        {
            JoinError.Malformed or JoinError.NameInvalid => StatusCodes.Status400BadRequest,
            JoinError.NameTaken or JoinError.IdTaken or JoinError.TooManyMembers => StatusCodes.Status409Conflict,
            JoinError.NotLeader => StatusCodes.Status421MisdirectedRequest,
            JoinError.Unavailable => StatusCodes.Status503ServiceUnavailable,
            _ => StatusCodes.Status403Forbidden,
        };

    /// <summary>
    /// Reads the body of an unauthenticated request; null when it is 64 KiB or longer, which no valid request is.
    /// </summary>
    internal static async Task<byte[]?> ReadAsync(HttpContext http)
    {
        byte[] buffer = new byte[MaxBodyBytes];
        int length = await http.Request.Body.ReadAtLeastAsync(
            buffer,
            buffer.Length,
            throwOnEndOfStream: false,
            http.RequestAborted
        );
        return length < buffer.Length ? buffer[..length] : null;
    }

    /// <summary>Writes an answer.</summary>
    internal static async Task WriteAsync(HttpContext http, int status, byte[] json)
    {
        http.Response.StatusCode = status;
        http.Response.ContentType = "application/json";
        http.Response.ContentLength = json.Length;
        http.Response.BodyWriter.Write(json);
        await http.Response.BodyWriter.FlushAsync(http.RequestAborted);
    }
}
