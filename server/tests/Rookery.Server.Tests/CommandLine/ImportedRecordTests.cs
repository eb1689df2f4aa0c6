using System.Text;
using Rookery.Hosting;
using Rookery.Server.Tests.Raven;
using Rookery.Transfer;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>
/// The records that `rookery import` sends: each with an id, and otherwise with the bytes of the input.
/// </summary>
public sealed class ImportedRecordTests(RunningServer server) : IClassFixture<RunningServer>, IDisposable
{
    private const string Hash = "8dd6c1357c97a0b7a016fe2dd9e24c73";
    private const string Id = $"\"@id\":\"{Hash}\"";

    private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("rookery-import-");

    /// <summary>Each character becomes one byte, so that one document is no UTF-8.</summary>
    [Theory]
    [InlineData("{\"n\":1.50,\"name\":\"M\u00fcller\"", ",\"@metadata\":{", "}}")]
    [InlineData("{\"name\":\"\\ud800\"", ",\"@metadata\":{", "}}")]
    [InlineData("{\"name\":\"\\ud800\",\"@metadata\":{\"@collection\":\"A\"", ",", "}}")]
    [InlineData("{ \"@metadata\" : { ", "", "} , \"n\" : 1 }")]
    [InlineData("{", "\"@metadata\":{", "}}")]
    public void An_id_is_inserted_into_the_bytes_of_a_document(string before, string inserted, string after)
    {
        string document = before + (inserted.Contains('{', StringComparison.Ordinal) ? after[1..] : after);
        var completed = new RecordId("seed").Complete(Encoding.Latin1.GetBytes(document), number: 1, out _);
        Assert.Equal(before + inserted + Id + after, Encoding.Latin1.GetString(completed.Span));
    }

    [Theory]
    [InlineData("null", "\"HASH\"")]
    [InlineData("\"\"", "\"HASH\"")]
    [InlineData("\"orders/\"", "\"orders/HASH\"")]
    [InlineData("\"orders\\/\"", "\"orders\\/HASH\"")]
    [InlineData("\"orders\\u002f\"", "\"orders\\u002fHASH\"")]
    [InlineData("\"orders/1\"", "\"orders/1\"")]
    [InlineData("7", "7")]
    public void An_id_that_the_node_would_complete_is_completed_before_it_is_sent(string written, string sent)
    {
        string Document(string id) => $"{{\"@metadata\":{{\"\\u0040id\":{id},\"x\":1}},\"n\":1}}";
        var completed = new RecordId("seed").Complete(
            Encoding.UTF8.GetBytes(Document(written)),
            1,
            out string? refusal
        );
        Assert.Null(refusal);
        Assert.Equal(
            Document(sent.Replace("HASH", Hash, StringComparison.Ordinal)),
            Encoding.UTF8.GetString(completed.Span)
        );
    }

    [Fact]
    public async Task A_record_that_asks_for_a_consecutive_number_is_refused_by_its_line()
    {
        string db = await server.CreateDatabaseAsync();
        var file = await WriteAsync(
            "{\"@metadata\":{\"@id\":\"orders|\"}}\n{\"@metadata\":{\"@id\":\"orders/\"}}\n{\"@metadata\":{\"@id\":null}}\n"
        );
        Assert.Equal(ExitCode.BadInput, await RunAsync("import", db, file));
        Assert.Equal(2, await server.CountAsync(db));
    }

    [Fact]
    public async Task A_record_with_an_invalid_text_is_refused_and_the_others_are_stored()
    {
        string db = await server.CreateDatabaseAsync();
        var file = await WriteAsync(
            "{\"name\":\"Rook\"}\n{\"name\":\"M\u00fcller\"}\n{\"name\":\"\\ud800\"}\n{\"\\ud800\":1}\n{\"n\":2}\n"
        );
        Assert.Equal(ExitCode.BadInput, await RunAsync("import", db, file));
        Assert.Equal(2, await server.CountAsync(db));
    }

    [Theory]
    [InlineData("\"from M\u00fcller as u select u\"")]
    [InlineData("\"from Users as u select \\ud800\"")]
    public async Task An_index_with_an_invalid_text_is_refused(string map)
    {
        string db = await server.CreateDatabaseAsync();
        var file = await WriteAsync($"{{\"Name\":\"A\",\"Maps\":[{map}]}}");
        Assert.Equal(ExitCode.Configuration, await RunAsync("index", "put", db, file));
    }

    [Fact]
    public async Task A_parameter_with_half_of_a_surrogate_pair_is_refused()
    {
        string db = await server.CreateDatabaseAsync();
        Assert.Equal(
            ExitCode.Configuration,
            await RunAsync("query", db, "from @all_docs where n = $p", "--param", "p=\"\\ud800\"")
        );
    }

    public void Dispose() => _directory.Delete(recursive: true);

    private async Task<string> WriteAsync(string latin1)
    {
        string file = Path.Combine(_directory.FullName, "input");
        await File.WriteAllTextAsync(file, latin1, Encoding.Latin1);
        return file;
    }

    private Task<int> RunAsync(params string[] words) =>
        Rookery.CommandLine.RunAsync(
            [
                .. words.Select(static word => word.Replace("/databases/", string.Empty, StringComparison.Ordinal)),
                "--url",
                server.Address.ToString(),
            ],
            TextWriter.Null
        );
}
