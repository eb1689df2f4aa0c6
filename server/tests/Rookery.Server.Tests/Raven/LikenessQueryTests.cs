using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>moreLikeThis on the wire.</summary>
public sealed class LikenessQueryTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const string Eager = """{"MinimumTermFrequency":1,"MinimumDocumentFrequency":1}""";

    [Theory]
    [InlineData("moreLikeThis(id() = 'articles/1', $options)", "articles/2,articles/3")]
    [InlineData("moreLikeThis('articles/1', $options)", "articles/2,articles/3")]
    [InlineData("moreLikeThis(name = 'cat', $options)", "articles/2,articles/3")]
    [InlineData("moreLikeThis('{\"text\":\"an orange moon\"}', $options)", "articles/4")]
    [InlineData("moreLikeThis($document, $options)", "articles/4")]
    [InlineData("moreLikeThis(id() = 'articles/1', $options) and name = 'lion'", "articles/2")]
    [InlineData("moreLikeThis(id() = 'articles/1')", "")]
    [InlineData("moreLikeThis(id() = 'articles/4', $options)", "")]
    [InlineData("moreLikeThis(id() = 'articles/1', '{\"minimumTermFrequency\":1,\"minimumDocumentFrequency\":3}')", "articles/3,articles/2")]
    [InlineData("moreLikeThis(id() = 'articles/1', '{\"MinimumTermFrequency\":1,\"MinimumDocumentFrequency\":1,\"MaximumDocumentFrequency\":2}')", "articles/2")]
    [InlineData("moreLikeThis(id() = 'articles/1', '{\"MinimumTermFrequency\":1,\"MinimumDocumentFrequency\":1,\"Fields\":[\"name\"]}')", "")]
    [InlineData("moreLikeThis(id() = 'articles/1', '{\"MinimumTermFrequency\":1,\"MinimumDocumentFrequency\":1,\"MinimumWordLength\":7}')", "articles/2")]
    public async Task Documents_with_words_that_say_most_are_found(string condition, string ids)
    {
        string db = await FillAsync();
        var answer = await server.SendAsync("POST", db + "/queries", Body($"from Articles where {condition}"));
        Assert.True(answer.Status == 200, answer.Body);
        Assert.Equal(ids, Ids(answer.Json));
        answer = await server.SendAsync("POST", db + "/queries", Body($"from Articles where {condition} order by id() desc"));
        Assert.Equal(string.Join(',', ids.Split(',').OrderDescending(StringComparer.Ordinal)), Ids(answer.Json));
    }

    [Theory]
    [InlineData("moreLikeThis(id() = 'articles/9')", 400, "there is none")]
    [InlineData("moreLikeThis('{')", 400, "not a JSON object")]
    [InlineData("moreLikeThis(id() = 'articles/1', '{\"StopWordsDocumentId\":\"stop\"}')", 501, "StopWordsDocumentId")]
    [InlineData("moreLikeThis(id() = 'articles/1', '{\"MaximumQueryTerms\":100000}')", 400, "1024")]
    [InlineData("moreLikeThis(id() = 'articles/1', '{\"MaximumNumberOfTokensParsed\":1000000000}')", 400, "100000")]
    [InlineData("moreLikeThis(search(text, 'cat'))", 501, "search")]
    public async Task What_cannot_be_compared_is_refused(string condition, int status, string named)
    {
        string db = await FillAsync();
        (await server.SendAsync("POST", db + "/queries", Body($"from Articles where {condition}"))).IsRefusal(status, named);
    }

    private static string Ids(JsonElement answer) =>
        string.Join(',', answer.GetProperty("Results").EnumerateArray().Select(static result => result.GetProperty("@metadata").GetProperty("@id").GetString()));

    private static string Body(string query) => JsonSerializer.Serialize(new
    {
        Query = query,
        QueryParameters = new { options = JsonSerializer.Deserialize<JsonElement>(Eager), document = """{"text":"an orange moon"}""" },
    });

    private async Task<string> FillAsync()
    {
        string db = await server.CreateDatabaseAsync();
        (string Name, string Text)[] articles = [("cat", "A small animal with whiskers"), ("lion", "A large animal with whiskers"), ("dog", "An animal"), ("moon", "The moon is not orange, moon")];
        foreach (var (i, (name, text)) in articles.Index())
        {
            Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id=articles/{i + 1}", $$"""{"name":"{{name}}","text":"{{text}}","@metadata":{"@collection":"Articles"} }""")).Status);
        }

        return db;
    }
}
