using System.CommandLine;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;
using Rookery.Disk;

namespace Rookery.Access;

/// <summary>The options by which a command finds a running node and says who it is: --data on the node's machine, otherwise --url with --token-file and --ca.</summary>
/// <param name="isRemote">Whether the command has a meaning of its own for --data, and no answer that is JSON.</param>
internal sealed class NodeAddress(bool isRemote = false)
{
    /// <summary>Where a node listens when nothing else was said.</summary>
    public const string DefaultUrl = "http://127.0.0.1:8080";
    private const string TokenVariable = "ROOKERY_TOKEN";

    private readonly Option<string?> _data = new("--data") { Description = "Data directory of a node that runs here: reaches it by its own address, as root or its user.", HelpName = "DIR" };
    private readonly Option<string?> _url = new("--url") { Description = $"Address of a running node [default: {DefaultUrl}].", HelpName = "URL" };
    private readonly Option<string?> _tokenFile = new("--token-file") { Description = $"File with the token to send [default: the environment's {TokenVariable}, with --url].", HelpName = "FILE" };
    private readonly Option<string?> _authority = new("--ca") { Description = "PEM file with the cluster's authority [default: those that the system trusts].", HelpName = "FILE" };
    private readonly Option<bool> _json = new("--json") { Description = "Print the answer as JSON." };

    /// <summary>Adds the options to a command.</summary>
    public Command AddTo(Command command)
    {
        foreach (var option in isRemote ? (Option[])[_url, _tokenFile, _authority] : [_data, _url, _tokenFile, _authority, _json])
        {
            command.Options.Add(option);
        }

        return command;
    }

    /// <summary>Whether the answer is printed as it came.</summary>
    public bool IsJson(ParseResult parsed) => parsed.GetValue(_json);

    /// <summary>The directory on this machine; null when the node is named by its address.</summary>
    public string? Directory(ParseResult parsed) => !isRemote && parsed.GetValue(_data) is { } directory ? Path.GetFullPath(directory) : null;

    /// <summary>Whether a running node was named by its address.</summary>
    public bool IsNamed(ParseResult parsed) => parsed.GetValue(_url) is not null;

    /// <summary>Runs work that talks to the node, and turns what goes wrong into a sentence and a code.</summary>
    public Task<int> UseAsync(ParseResult parsed, Func<AdminClient, Task<int>> work) => Refusal.GuardAsync(async () =>
    {
        using var client = new AdminClient(Connect(parsed));
        return await work(client);
    });

    /// <summary>Runs work that talks to the node in its own way, and turns what goes wrong into a sentence and a code.</summary>
    public Task<int> UseAsync(ParseResult parsed, Func<NodeConnection, Task<int>> work) => Refusal.GuardAsync(() => work(Connect(parsed)));

    /// <summary>The text of a file that an option names.</summary>
    /// <exception cref="AdminException">It cannot be read.</exception>
    public static string ReadFile(string path)
    {
        try
        {
            return File.ReadAllText(path);
        }
        catch (Exception unreadable) when (unreadable is IOException or UnauthorizedAccessException)
        {
            throw new AdminException($"The file {path} cannot be read.", ExitCode.Configuration);
        }
    }

    /// <summary>The node that the options name.</summary>
    /// <exception cref="AdminException">They contradict each other, or name what is not there.</exception>
    public NodeConnection Connect(ParseResult parsed)
    {
        string? url = parsed.GetValue(_url);
        if (Directory(parsed) is { } directory)
        {
            if (url is not null)
            {
                throw new AdminException("--data finds the node by itself and --url names it; give one of them.", ExitCode.Configuration);
            }

            var disk = new PosixDisk();
            var local = LocalAccess.TryRead(disk, directory) ?? throw new AdminException(
                disk.Exists(directory)
                    ? $"No node that speaks TLS was started on {directory}. One that speaks plain HTTP is named by --url, and needs no token."
                    : $"There is no directory {directory}.",
                ExitCode.Configuration);
            return new NodeConnection(local.Address, local.Token, IdentityDirectory.AuthoritiesIn(disk, directory));
        }

        if (!Uri.TryCreate(url ?? DefaultUrl, UriKind.Absolute, out var address) || address.Scheme is not ("http" or "https"))
        {
            throw new AdminException($"\"{url}\" is not an address such as {DefaultUrl}.", ExitCode.Configuration);
        }

        // Whatever happens to listen at the default address was not meant to have it.
        string? token = parsed.GetValue(_tokenFile) is { } file ? ReadFile(file).Trim() : url is null ? null : Environment.GetEnvironmentVariable(TokenVariable);
        if (token?.AsSpan().IndexOfAnyExceptInRange('!', '~') >= 0)
        {
            string source = parsed.GetValue(_tokenFile) ?? $"The environment's {TokenVariable}";
            throw new AdminException($"{source} holds no token: one is a single line of letters, digits and signs, as `rookery token create` prints it.", ExitCode.Configuration);
        }

        if (!string.IsNullOrEmpty(token) && address.Scheme is "http" && !address.IsLoopback)
        {
            throw new AdminException($"A token is not sent to {address} over plain HTTP, where everybody on the way can read it. Name an https address, or leave the token away: plain HTTP asks for none.", ExitCode.Configuration);
        }

        var authorities = parsed.GetValue(_authority) is { } pem ? ReadPem(ReadFile(pem), pem) : null;
        return new NodeConnection(address, string.IsNullOrEmpty(token) ? null : token, authorities);
    }

    private static X509Certificate2Collection ReadPem(string text, string path)
    {
        var authorities = new X509Certificate2Collection();
        try
        {
            authorities.ImportFromPem(text);
        }
        catch (CryptographicException)
        {
            // Said below, as for a file without a certificate.
        }

        return authorities.Count > 0 ? authorities : throw new AdminException($"{path} holds no certificate in PEM.", ExitCode.Configuration);
    }
}

/// <summary>A command could not do what it was asked.</summary>
/// <param name="message">One sentence for the user.</param>
/// <param name="code">How the process ends.</param>
internal sealed class AdminException(string message, int code) : Exception(message)
{
    public int Code => code;
}
