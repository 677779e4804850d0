// What llama.cpp's own code makes of one chat template, as JSON lines: the run behind python -m tests.llamacpp.
//
//     llamacpp TEMPLATE GIVEN [debug]
//
// GIVEN has tools, and turns of calls. For each turn it prints what the template writes of it, and what the parser that
// was made for the template reads of that text. A model's text begins where the prompt ends, and templates rarely say
// where that is in a finished turn, so several cuts are tried, and who reads the lines takes the best. Nothing here is
// used by the library or its tests; it is compiled by hand, with the sources of llama.cpp that tests/llamacpp.toml names:
//
//     g++ -std=c++17 -Icommon -Ivendor -Iinclude -Iggml/include -o llamacpp llamacpp.cpp
//         common/{chat*,parsers/*,jinja/*,json*,peg-parser,log,trie,unicode,common,reasoning-budget}.cpp
//         -lllama -lggml -lggml-base -Wl,--gc-sections -Wl,--unresolved-symbols=ignore-all

#include "chat-auto-parser.h"
#include "chat.h"
#include "common.h"
#include "json.h"
#include "log.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

using json = common_json;
using text = std::string;

static text read_file(const char * path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
}

static size_t common_prefix(const text & a, const text & b) {
    size_t n = 0;
    while (n < a.size() && n < b.size() && a[n] == b[n]) {
        n++;
    }
    return n;
}

static size_t common_suffix(const text & a, const text & b) {
    size_t n = 0;
    while (n < a.size() && n < b.size() && a[a.size() - 1 - n] == b[b.size() - 1 - n]) {
        n++;
    }
    return n;
}

static bool blank(const text & s) {
    return s.find_first_not_of(" \n\t") == text::npos;
}

static void print(const json & line) {
    std::cout << line.dump() << std::endl;
}

struct attempt {
    text prompt;  // what of the prompt the parser is told
    text output;  // what the model would have written behind it
};

// The ways to cut a finished turn off its prompt, the likely ones first.
static std::vector<attempt> attempts(const text & before, const text & prompt, const text & turn, const text & plain,
                                     const text & tail, const text & think_end) {
    std::vector<attempt> found;
    const size_t end = plain.empty() ? 0 : common_suffix(plain, turn);
    auto add = [&](const text & told, const text & output) {
        std::vector<text> forms = { output };
        if (end && end < output.size()) {
            forms.insert(forms.begin(), output.substr(0, output.size() - end));
        }
        for (const auto & form : forms) {
            found.push_back({ told, form });
            const size_t last = form.find_last_not_of(" \n");
            if (last != text::npos && last + 1 < form.size()) {
                found.push_back({ told, form.substr(0, last + 1) });
            }
        }
    };
    const size_t shared = common_prefix(prompt, turn);
    const bool parts = shared < prompt.size();  // the prompt goes on otherwise than the turn does
    std::vector<size_t> cuts = { shared };
    if (parts) {
        for (char edge : { '<', '[', '\n' }) {
            const size_t at = turn.rfind(edge, shared ? shared - 1 : 0);
            if (at != text::npos && at + 40 > shared) {
                cuts.push_back(at);
                if (edge == '\n') {
                    cuts.push_back(at + 1);
                }
            }
        }
    }
    for (size_t cut : cuts) {
        add(tail, turn.substr(cut));
        if (parts && !think_end.empty()) {
            add(tail, "\n" + think_end + "\n\n" + turn.substr(cut));
            add(tail, think_end + "\n" + turn.substr(cut));
            add(tail, think_end + turn.substr(cut));
        }
    }
    if (common_prefix(before, turn) == before.size()) {
        add("", turn.substr(before.size()));
    }
    return found;
}

int main(int argc, char ** argv) {
    if (argc < 3) {
        std::cerr << "usage: llamacpp TEMPLATE GIVEN [debug]\n";
        return 2;
    }
    const int told = argc > 3 ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR;
    const text source = read_file(argv[1]);
    const json given = json::parse(read_file(argv[2]));
    common_chat_templates_ptr templates;
    try {
        templates = common_chat_templates_init(nullptr, source, "<s>", "</s>");
    } catch (const std::exception & error) {
        json line = json::object();
        line["stage"] = "init";
        line["error"] = text(error.what());
        print(line);
        return 0;
    }
    const auto tools = common_chat_tools_parse_oaicompat(given["tools"]);
    common_chat_msg user;
    user.role = "user";
    user.content = "Please help.";
    auto apply = [&](const std::vector<common_chat_msg> & messages, bool prompt, bool think) {
        common_chat_templates_inputs inputs;
        inputs.messages = messages;
        inputs.tools = tools;
        inputs.add_generation_prompt = prompt;
        inputs.parallel_tool_calls = true;
        inputs.reasoning_format = COMMON_REASONING_FORMAT_AUTO;
        inputs.enable_thinking = think;
        // Only the parser is for calls: renders do without the grammar, which takes most of the time, and without a log.
        inputs.tool_choice = prompt ? COMMON_CHAT_TOOL_CHOICE_AUTO : COMMON_CHAT_TOOL_CHOICE_NONE;
        common_log_set_verbosity_thold(prompt ? told : LOG_LEVEL_ERROR);
        return common_chat_templates_apply(templates.get(), inputs);
    };
    // Turns come in pairs: with plain ids, and with those from which Kimi's templates take the name.
    const bool counted = source.find("functions") != text::npos;
    std::vector<bool> done(given["turns"].size(), false);
    for (bool think : { true, false }) {
        // Without thinking, only what was not read with it.
        if (std::find(done.begin(), done.end(), false) == done.end()) {
            break;
        }
        json about = json::object();
        about["stage"] = "params";
        about["think"] = think;
        common_chat_params params;
        text before;
        try {
            params = apply({ user }, true, think);
            before = apply({ user }, false, think).prompt;
        } catch (const std::exception & error) {
            about["error"] = text(error.what());
            print(about);
            continue;
        }
        print(about);
        common_log_set_verbosity_thold(LOG_LEVEL_ERROR);
        common_chat_parser_params parsing(params);
        parsing.reasoning_format = COMMON_REASONING_FORMAT_AUTO;
        if (!params.parser.empty()) {
            parsing.parser.load(params.parser);
        }
        text plain;
        try {
            common_chat_msg said;
            said.role = "assistant";
            said.content = "Zcsaid it.";
            plain = apply({ user, said }, false, think).prompt;
        } catch (const std::exception &) {
            // A template that does not write this turn may write one with calls.
        }
        for (size_t n = 0; n < given["turns"].size(); n++) {
            if (done[n - n % 2] || (n % 2 == 1 && !counted)) {
                done[n] = true;
                continue;
            }
            const auto & calls = given["turns"][n];
            common_chat_msg message;
            message.role = "assistant";
            for (size_t k = 0; k < calls.size(); k++) {
                message.tool_calls.push_back({ calls[k]["name"].get<text>(), calls[k]["arguments"].dump(),
                                               calls[k]["id"].get<text>() });
            }
            json line = json::object();
            line["stage"] = "turn";
            line["turn"] = (int) n;
            line["think"] = think;
            text turn;
            try {
                turn = apply({ user, message }, false, think).prompt;
            } catch (const std::exception & error) {
                line["error"] = text(error.what());
                print(line);
                continue;
            }
            line["written"] = turn.substr(common_prefix(before, turn));
            const text end_tag = params.thinking_end_tags.empty() ? "" : params.thinking_end_tags[0];
            json results = json::array({});
            for (const auto & one : attempts(before, params.prompt, turn, plain, params.generation_prompt, end_tag)) {
                json result = json::object();
                result["output"] = one.output;
                parsing.generation_prompt = one.prompt;
                try {
                    const auto read = common_chat_parse(one.output, false, parsing);
                    result["content"] = read.content;
                    json back = json::array({});
                    bool same = read.tool_calls.size() == calls.size() && blank(read.content);
                    for (size_t k = 0; k < read.tool_calls.size(); k++) {
                        json call = json::object();
                        call["name"] = read.tool_calls[k].name;
                        call["arguments"] = read.tool_calls[k].arguments;
                        back.push_back(call);
                        same = same && read.tool_calls[k].name == calls[k]["name"].get<text>() &&
                               json::parse(read.tool_calls[k].arguments).dump() == calls[k]["arguments"].dump();
                    }
                    result["calls"] = back;
                    done[n - n % 2] = done[n - n % 2] || same;
                } catch (const std::exception & error) {
                    result["error"] = text(error.what()).substr(0, 300);
                }
                results.push_back(result);
            }
            line["results"] = results;
            print(line);
        }
    }
    common_log_flush(common_log_main());
    return 0;
}
