using System.Globalization;
using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Rookery.Platform;

namespace Rookery.Server.Welcome;

/// <summary>
/// The page that a node serves over plain HTTP to new users. It explains the node, offers the certificate of the
/// cluster's authority with its fingerprint, and links to the HTTPS address. It needs no credential and refuses every
/// request that carries one, because plain HTTP can be read on the network.
/// </summary>
/// <param name="context">State that the routes share.</param>
/// <param name="port">Port of the page.</param>
internal sealed class WelcomePage(ServerContext context, int port)
{
    private const int HttpPort = 80;
    private const int HttpsPort = 443;
    private const int PairsInGroup = 8;
    private const string PlainText = "text/plain; charset=utf-8";

    private static readonly string Template = ReadTemplate();
    private static readonly string Policy =
        $"default-src 'none'; style-src 'sha256-{HashOfStyle()}'; base-uri 'none'; form-action 'none'; "
        + $"frame-ancestors 'none'";

    private string Host => context.Options.NodeName + ".local";

    private string Url => "https://" + Host + PortAfter(context.Options.Listen.Port, HttpsPort);

    /// <summary>Answers any request to the page's port.</summary>
    public Task AnswerAsync(HttpContext http)
    {
        var (request, headers) = (http.Request, http.Response.Headers);
        headers.ContentSecurityPolicy = Policy;
        headers.XContentTypeOptions = "nosniff";
        headers["Referrer-Policy"] = "no-referrer";
        headers.CacheControl = "no-cache";
        if (request.Headers.Authorization.Count > 0 || request.Headers.Cookie.Count > 0)
        {
            return RefuseAsync(
                http,
                StatusCodes.Status400BadRequest,
                $"This page uses plain HTTP, so anyone on the network could read the credential or cookie of "
                    + $"this request. Send the request to {Url}, and revoke the credential if it was a token."
            );
        }

        if (!HttpMethods.IsGet(request.Method) && !HttpMethods.IsHead(request.Method))
        {
            headers.Allow = "GET, HEAD";
            return RefuseAsync(
                http,
                StatusCodes.Status405MethodNotAllowed,
                $"This page uses plain HTTP, so anyone on the network could read what is sent here. Send it to {Url}."
            );
        }

        if (context.Options.Identity?.Invoke() is not { Authorities: { Count: > 0 } authorities })
        {
            return RefuseAsync(http, StatusCodes.Status503ServiceUnavailable, "This node has no certificate yet.");
        }

        // Compares the raw target, so that a path with escapes or a query string matches no known path.
        switch (http.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget)
        {
            case "/":
                return SendAsync(http, "text/html; charset=utf-8", Encoding.UTF8.GetBytes(Fill(http, authorities)));
            case "/rookery-ca.pem":
                headers.ContentDisposition = "attachment; filename=\"rookery-ca.pem\"";
                return SendAsync(
                    http,
                    "application/x-pem-file",
                    Encoding.ASCII.GetBytes(authorities.ExportCertificatePems() + "\n")
                );
            case "/rookery-ca.crt":
                // The file is in DER, whose SHA-256 is the certificate's fingerprint. Phones offer to install this
                // content type.
                return SendAsync(http, "application/x-x509-ca-cert", authorities[0].RawData);
            default:
                return RefuseAsync(
                    http,
                    StatusCodes.Status404NotFound,
                    $"This port has only the page / and the authority's certificate. Everything else is at {Url}."
                );
        }
    }

    private string Fill(HttpContext http, X509Certificate2Collection authorities)
    {
        var (state, style) = State();
        bool isUnclaimed = style is "unclaimed";
        return new StringBuilder(Template)
            .Replace("{claim}", isUnclaimed ? ClaimSection : string.Empty)
            .Replace("{fingerprints}", string.Join('\n', authorities.Select(Fingerprint)))
            .Replace("{other-link}", LinkByAddress(http.Connection.LocalIpAddress))
            .Replace("{state-class}", style)
            .Replace("{state}", WebUtility.HtmlEncode(state))
            .Replace("{url}", WebUtility.HtmlEncode(Url))
            .Replace("{host}", WebUtility.HtmlEncode(Host))
            .Replace("{port}", PortAfter(port, HttpPort))
            .Replace("{name}", WebUtility.HtmlEncode(context.Options.NodeName))
            .Replace("{cluster}", WebUtility.HtmlEncode(context.Options.ClusterName))
            .Replace("{version}", ProductVersion.Text)
            // Last, because the sentences may contain any text.
            .Replace("{settings-notes}", SettingsSection(isUnclaimed))
            .ToString();
    }

    private (string Sentence, string Style) State() =>
        context.PublicText.ForEveryone(context.Readiness.Reason) is { } reason ? (reason, string.Empty)
        : context.HasOwner ? ("Member of its cluster: it serves callers with a token or a certificate.", "member")
        // Only the leader is sure to know all acknowledged writes.
        : context.Node.Consensus.IsLeader ? ("It has no owner yet: claim it.", "unclaimed")
        : ("It does not know yet whether it has an owner, because it has not reached the other members.", string.Empty);

    /// <summary>
    /// Returns what is wrong with the settings on the card; empty if nothing is. They contain names of networks and
    /// hosts, so their text is shown only until the node has an owner, who finds them on the screen and on the card.
    /// </summary>
    private string SettingsSection(bool isUnclaimed)
    {
        var notes = context.Options.SettingsNotes?.Invoke() ?? [];
        if (notes.Count == 0)
        {
            return string.Empty;
        }

        if (!isUnclaimed)
        {
            return $"<p>The settings on its card have {Amount.Of(notes.Count, "problem")}: see its screen, or "
                + "<code>rookery-first-boot.log</code> on the first partition of the card.</p>";
        }

        var section = new StringBuilder("<h2>Problems with the settings on its card</h2>\n<ul>\n");
        foreach (string note in notes)
        {
            section.Append("<li>").Append(WebUtility.HtmlEncode(note)).Append("</li>\n");
        }

        return section
            .Append("</ul>\n<p>Correct the files on the first partition of the card and restart the machine. ")
            .Append("The same is in <code>rookery-first-boot.log</code> there, and on the screen.</p>")
            .ToString();
    }

    private const string ClaimSection = """
        <h2>Become its owner</h2>
        <p>Whoever knows the one-time code of this machine becomes its owner. The code is where the fingerprint is, on the screen and in <code>rookery-first-boot.log</code>, unless you preset one. On another computer with <code>rookery</code>:</p>
        <pre><code>rookery claim --url {url} \
          --ca rookery-ca.pem --code CODE</code></pre>
        <p>It prints, once, a token with all rights: keep it. To let the machine join an existing cluster, do not claim it; give it a token of that cluster in <code>rookery.toml</code>, or run <code>rookery cluster join</code>.</p>
        """;

    /// <summary>
    /// Returns a link to the node's address, for clients that cannot resolve its name; empty without an address. The
    /// node's certificate covers addresses of private networks.
    /// </summary>
    private string LinkByAddress(IPAddress? address)
    {
        if (address is null || IPAddress.IsLoopback(address))
        {
            return string.Empty;
        }

        address = address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : new IPAddress(address.GetAddressBytes());
        string host =
            address.AddressFamily == System.Net.Sockets.AddressFamily.InterNetworkV6
                ? $"[{address}]"
                : address.ToString();
        string url = $"https://{host}{PortAfter(context.Options.Listen.Port, HttpsPort)}";
        return $"<a class=\"button\" href=\"{url}\">{url}</a>";
    }

    private static string Fingerprint(X509Certificate2 authority)
    {
        string[] pairs =
        [
            .. authority
                .GetCertHash(HashAlgorithmName.SHA256)
                .Select(static part => part.ToString("X2", CultureInfo.InvariantCulture)),
        ];
        var groups = pairs.Chunk(PairsInGroup).Select(static group => $"<code>{string.Join(':', group)}</code>");
        return $"<div class=\"fingerprint\">{string.Join(' ', groups)}</div>";
    }

    private static string PortAfter(int port, int defaultPort) =>
        port == defaultPort ? string.Empty : string.Create(CultureInfo.InvariantCulture, $":{port}");

    /// <summary>Refuses a request and closes its connection without reading the body.</summary>
    private static Task RefuseAsync(HttpContext http, int status, string sentence)
    {
        http.Response.StatusCode = status;
        http.Response.Headers.Connection = "close";
        return SendAsync(http, PlainText, Encoding.UTF8.GetBytes(sentence + "\n"));
    }

    private static Task SendAsync(HttpContext http, string type, byte[] body)
    {
        http.Response.ContentType = type;
        http.Response.ContentLength = body.Length;
        return HttpMethods.IsHead(http.Request.Method)
            ? Task.CompletedTask
            : http.Response.Body.WriteAsync(body, http.RequestAborted).AsTask();
    }

    private static string ReadTemplate()
    {
        using var reader = new StreamReader(typeof(WelcomePage).Assembly.GetManifestResourceStream("welcome.html")!);
        return reader.ReadToEnd();
    }

    private static string HashOfStyle()
    {
        const string Begin = "<style>";
        int begin = Template.IndexOf(Begin, StringComparison.Ordinal) + Begin.Length;
        return Convert.ToBase64String(
            SHA256.HashData(
                Encoding.UTF8.GetBytes(Template[begin..Template.IndexOf("</style>", StringComparison.Ordinal)])
            )
        );
    }
}
